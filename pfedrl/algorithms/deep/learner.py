"""Nets with a replay and target nets, all agents of all seeds in one stack."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.deep.acting import Acting
from pfedrl.algorithms.deep.rollouts import Policy
from pfedrl.envs.environments import SteppedTask
from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner


class DeepLearner(Learner):
    """One net a replica (seed, agent); one whose loss is no longer finite has diverged.

    `phases` are the parts of the nets that are trained: the first at every step, the others after
    a round's steps. Where there are newcomers to a trained federation, `first_agent` is how many
    were there before them.
    """

    KEPT: tuple[str, ...] = (
        "moments", "updates", "loss", "diverged", "looked", "greedy_total", "told",
    )  # fmt: skip
    task: Any  # a SteppedTask
    experience: Acting
    axis: str  # what training is counted in
    length: int  # of training, counted so

    def __init__(
        self, task: SteppedTask, seeds: Sequence[int], settings: Any, net: Any,
        phases: tuple[str, ...], weights: np.ndarray | None, first_agent: int,
    ):  # fmt: skip
        self.task, self.seeds, self.settings, self.net = task, list(seeds), settings, net
        self.phases, self.first_agent = phases, first_agent
        self.shape = (task.seeds, task.agents)
        replicas = task.seeds * task.agents
        if weights is None:
            weights = np.concatenate([net.initial_rows(seed, task.agents) for seed in seeds])
        self._hold(weights.reshape(replicas, -1).astype(np.float32))
        self.moments = np.zeros((2, *self.weights.shape), np.float32)
        self.updates = {phase: np.zeros(replicas, np.int64) for phase in phases}
        self.loss = np.zeros(replicas)
        self.diverged = np.zeros(replicas, np.bool_)
        self.looked = np.zeros(task.seeds, np.int64)  # how often a seed has been looked at
        self.greedy_total = np.zeros(self.shape)  # of the greedy returns at these looks
        # the sum and number of training returns at the last look, where frames are counted
        self.told = np.zeros((2, *self.shape))

    def _hold(self, weights: np.ndarray, target: np.ndarray | None = None) -> None:
        """Take the nets' weights."""
        self.weights = torch.from_numpy(weights)
        self.target = self.weights.clone() if target is None else torch.from_numpy(target)
        self.gradient = torch.zeros_like(self.weights)
        self._view()

    @abstractmethod
    def _view(self) -> None:
        """Make the views on weights, targets and gradient once."""

    @abstractmethod
    def policy(self, weights: Tensor) -> Policy:
        """How nets [net, weight] act when they are frozen."""

    @property
    def stack(self) -> Tensor:
        """All nets: [seed, agent, weight]."""
        return self.weights.view(*self.shape, -1)

    @property
    def parts(self) -> Parts:
        """Views [seed, agent, weight] on the nets' parts."""
        return {name: self.stack[:, :, self.net.part[name]] for name in self.net.names}

    def _forget(self) -> None:
        """What QAvg's code renews every round; the nets stay."""
        self.experience.restart(forget=True)
        self.moments[:] = 0
        for updates in self.updates.values():
            updates[:] = 0
        self.target.copy_(self.weights)

    def state(self) -> dict[str, Any]:
        return {
            "weights": self.weights.numpy(),
            "target": self.target.numpy(),
            "experience": self.experience.state(),
            **{name: getattr(self, name) for name in self.KEPT},
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._hold(state["weights"], state["target"])
        self.experience.restore(state["experience"])
        for name in self.KEPT:
            setattr(self, name, state[name])
