"""Distillation: the server fits one net to what the agents' nets say of states it draws itself."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.dqn import kernels
from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.exchange import Parts
from pfedrl.stack.stacked_net import activations

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner

# (values [seed, agent, state, action], observations [seed, state, observation]) to weights
Weighting = Callable[[Tensor, np.ndarray], Tensor]


class Distillation:
    """After every so many local steps all agents receive the server's net.

    The server draws states uniformly from the box of interest, labels them with the agents' values
    in a weighted mean, and takes Adam steps on the squared error. Its net and moments stay with it.
    """

    def __init__(
        self, learner: "DQNLearner", every: int, weighting: Weighting, states: int, fits: int,
        rate: float,
    ):  # fmt: skip
        self.learner, self.steps, self.weighting = learner, every, weighting
        self.states, self.fits = states, fits
        seeds = len(learner.seeds)
        self.generators = [generator(seed, Purpose.SERVER) for seed in learner.seeds]
        # the server starts where the agents do
        self._hold(learner.weights.view(*learner.shape, -1)[:, 0].clone())
        self.moments = np.zeros((2, *self.weights.shape), np.float32)
        self.updates = np.zeros(seeds, np.int64)
        self.rate = np.full(seeds, rate)
        learner.server = self  # so that checkpoints keep it

    def _hold(self, weights: Tensor) -> None:
        """Take the server's weights, and make the views on them once."""
        self.weights, self.gradient = weights, torch.zeros_like(weights)
        self.layers = self.learner.net.views(self.weights)
        self.gradient_layers = self.learner.net.views(self.gradient)

    def state(self) -> dict[str, Any]:
        return {
            "weights": self.weights.numpy(),
            "moments": self.moments,
            "updates": self.updates,
            "generators": [g.bit_generator.state for g in self.generators],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._hold(torch.from_numpy(state["weights"]))
        self.moments, self.updates = state["moments"], state["updates"]
        for own, kept in zip(self.generators, state["generators"], strict=True):
            own.bit_generator.state = kept

    def __call__(self, parts: Parts) -> None:
        physics, net = self.learner.task.physics, self.learner.net
        drawn = np.stack([g.uniform(-1, 1, (self.states, physics.STATE)) for g in self.generators])
        seen = physics.observations(drawn * physics.box)
        seeds, agents = self.learner.shape
        shown = torch.from_numpy(seen)
        rows = shown[:, None].expand(-1, agents, -1, -1).reshape(seeds * agents, self.states, -1)
        values = net.values(self.learner.weights, rows).view(seeds, agents, self.states, -1)
        weights = self.weighting(values, seen)
        labels = (weights / weights.sum(1, keepdim=True) * values).sum(1)
        fitted = np.isfinite(labels.numpy()).all(axis=(1, 2))
        for _ in range(self.fits):
            levels = activations(self.layers, shown)
            slope = (levels[-1] - labels) * (2.0 / labels[0].numel())
            net.backward(self.layers, levels, slope, self.gradient, self.gradient_layers)
            kernels.adam(
                self.weights.numpy(), self.gradient.numpy(), *self.moments, self.updates,
                self.rate, fitted, 0, net.columns,
            )  # fmt: skip
        for name, part in parts.items():
            part[...] = self.weights[:, None, net.part[name]]


def by_confidence(values: Tensor, seen: np.ndarray) -> Tensor:
    """LFRL (Liu et al. 2019): 1 - c, c the entropy of the softmax of the scores, over ln |A|."""
    chances = values.softmax(3)
    entropy = torch.special.entr(chances).sum(3, keepdim=True)
    return 1 - entropy / np.log(values.shape[3]) + 1e-6  # all may be unsure alike


class ByVisits:
    """FedAsynQ-ImAvg (Woo et al. 2023): (1 - eta)^(-N_i(s, a)), N_i visits since the last exchange.

    A visit counts for the cell of a grid over observations; where nobody was, all weigh the same.
    """

    def __init__(self, learner: "DQNLearner", every: int, rate: float, bins: int):
        self.learner, self.every, self.rate, self.bins = learner, every, rate, bins
        physics = learner.task.physics
        corners = physics.observations(np.stack([physics.box, -physics.box]))
        # cosines and sines lie within +-1; positions and speeds within the box
        self.limit = np.maximum(np.abs(corners).max(axis=0), 1e-6)
        if physics.observation > physics.STATE:
            self.limit[:4] = 1.0

    def cells(self, seen: np.ndarray) -> np.ndarray:
        """The cell of each observation [...]."""
        places = ((seen / self.limit + 1) / 2 * self.bins).astype(np.int64)
        places = places.clip(0, self.bins - 1)
        return places @ self.bins ** np.arange(seen.shape[-1])

    def __call__(self, values: Tensor, seen: np.ndarray) -> Tensor:
        experience = self.learner.experience
        replay_seen, _, replay_action = experience.replay[:3]
        replicas, buffer = replay_action.shape
        back = (experience.head[:, None] - 1 - np.arange(min(self.every, buffer))) % buffer
        real = np.arange(back.shape[1]) < experience.size[:, None]
        row = np.arange(replicas)[:, None]
        actions = values.shape[3]
        visited = self.cells(replay_seen[row, back]) * actions + replay_action[row, back]
        wanted = self.cells(seen)[:, None, :, None] * actions + np.arange(actions)
        wanted = np.broadcast_to(wanted, values.shape).reshape(replicas, -1)
        counts = np.empty(wanted.shape)
        for r in range(replicas):  # once an exchange, not a step
            counts[r] = np.bincount(visited[r, real[r]], minlength=wanted.max() + 1)[wanted[r]]
        counts = counts.reshape(values.shape)
        exponent = -np.log1p(-self.rate) * (counts - counts.max(axis=1, keepdims=True))
        return torch.from_numpy(np.exp(exponent)).to(values.dtype)
