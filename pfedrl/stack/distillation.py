"""Distillation: the server fits one net to what the agents' nets say of states it draws itself."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.by_visits import importance
from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape
from pfedrl.stack.nets import Perceptron
from pfedrl.stack.optimisers import PYTORCH, adam

# the server's states, as agents would see them, [seed, state, observation], each seed's by its own
Sampler = Callable[[Sequence[np.random.Generator]], np.ndarray]
# (values [seed, agent, state, action], observations [seed, state, observation], the agents' parts)
# to weights [seed, agent, state, 1 or action], of which only the ratios matter
Weighting = Callable[[Tensor, np.ndarray, Parts], Tensor]
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class Distillation(Exchange):
    """After every so many local steps all agents send their nets and receive the server's.

    The server draws states, labels them with the agents' values in a weighted mean, and takes Adam
    steps on the squared error. Its net starts as the agents' do; net, moments and generators stay
    with it.
    """

    def __init__(
        self, seeds: Sequence[int], net: Perceptron, every: int, sampler: Sampler,
        weighting: Weighting, fits: int, rate: float,
    ):  # fmt: skip
        super().__init__(every)
        self.net, self.sampler, self.weighting = net, sampler, weighting
        self.fits = fits
        self.generators = [generator(seed, Purpose.SERVER) for seed in seeds]
        self._hold(torch.from_numpy(np.concatenate([net.initial_rows(seed, 1) for seed in seeds])))
        self.moments = np.zeros((2, *self.weights.shape), np.float32)
        self.updates = np.zeros(len(seeds), np.int64)
        self.rate = np.full(len(seeds), rate)

    def _hold(self, weights: Tensor) -> None:
        """Take the server's weights, and make the views on them once."""
        self.weights, self.gradient = weights, torch.zeros_like(weights)
        self.layers = self.net.views(self.weights)
        self.gradient_layers = self.net.views(self.gradient)

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

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        seen = self.sampler(self.generators)
        shown = torch.from_numpy(seen)
        values = self._values(parts, shown)
        weights = self.weighting(values, seen, parts)
        self._fit(shown, (weights / weights.sum(1, keepdim=True) * values).sum(1))
        for name in self.net.names:
            if name in parts:
                parts[name][...] = self.weights[:, None, self.net.part[name]]
        # all that is in the parts is what the server needs to know
        return np.full(stack_shape(parts), float(bytes_each(parts, parts)))

    def _values(self, parts: Parts, shown: Tensor) -> Tensor:
        """What each agent's net says of its seed's states: [seed, agent, state, action]."""
        seeds, agents = stack_shape(parts)
        nets = torch.cat([parts[name] for name in self.net.names if name in parts], dim=2)
        states = shown.shape[1]
        rows = shown[:, None].expand(-1, agents, -1, -1).reshape(seeds * agents, states, -1)
        return self.net.outputs(nets.view(seeds * agents, -1), rows).view(seeds, agents, states, -1)

    def _fit(self, shown: Tensor, labels: Tensor) -> None:
        """Adam steps of the server's nets; one whose labels are not finite waits."""
        fitted = np.isfinite(labels.numpy()).all(axis=(1, 2))
        for _ in range(self.fits):
            levels = self.net.forward(self.layers, shown)
            slope = (levels[-1] - labels) * (2.0 / labels[0].numel())
            self.net.backward(self.layers, levels, slope, self.gradient_layers)
            adam(
                self.weights.numpy(), self.gradient.numpy(), *self.moments, self.updates,
                self.rate, fitted, 0, self.net.columns, *PYTORCH, None,
            )  # fmt: skip


def by_confidence(values: Tensor, seen: np.ndarray, parts: Parts) -> Tensor:
    """LFRL (Liu et al. 2019): 1 - c, c the entropy of the softmax of the scores, over ln |A|."""
    chances = values.softmax(3)
    entropy = torch.special.entr(chances).sum(3, keepdim=True)
    return 1 - entropy / np.log(values.shape[3]) + 1e-6  # all may be unsure alike


class ByCellVisits:
    """FedAsynQ-ImAvg (Woo et al. 2023): by the visits since the last exchange, as of tables.

    A visit counts for the cell of a grid over observations. The agents' part "visits" holds codes
    [seed, agent, visit] of cell and action, -1 where there was none.
    """

    def __init__(self, rate: float, grid: "Grid"):
        self.rate, self.grid = rate, grid

    def __call__(self, values: Tensor, seen: np.ndarray, parts: Parts) -> Tensor:
        actions = values.shape[3]
        wanted = self.grid.codes(seen[:, :, None], np.arange(actions), actions)[:, None]
        visited = parts["visits"]
        counts = np.empty(tuple(values.shape))
        for own in np.ndindex(visited.shape[:2]):  # once an exchange, not a step
            there = np.sort(visited[own][visited[own] >= 0])
            first, last = (np.searchsorted(there, wanted[own[0], 0], side) for side in SIDES)
            counts[own] = last - first
        return torch.from_numpy(importance(counts, self.rate)).to(values.dtype)


class Grid:
    """Equal cells over observations within +- a limit; what lies beyond is in the outermost."""

    def __init__(self, limit: np.ndarray, bins: int):
        self.limit, self.bins = limit, bins

    def codes(self, seen: np.ndarray, action: np.ndarray, actions: int) -> np.ndarray:
        """A number for the cell of observations [..., observation] and an action [...]."""
        places = ((seen / self.limit + 1) / 2 * self.bins).astype(np.int64)
        places = places.clip(0, self.bins - 1)
        return places @ self.bins ** np.arange(seen.shape[-1]) * actions + action
