"""Environments with finitely many actions, and continuous ones whose actions are cut to a grid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Protocol

import numpy as np

from pfedrl.envs.environments import Continuous, Discrete, Environments, SteppedTask


class DiscreteEnvironments(Environments, Protocol):
    """Rows whose action is one whole number."""

    start_size: int  # a start is so many uniform numbers; 0: it must be asked for by `starts`

    @property
    def action_space(self) -> Discrete: ...


class DiscreteTask(SteppedTask, Protocol):
    """What value learners need of a task."""

    @property
    def cap(self) -> int:
        """Steps after which an episode ends."""

    def environments(self) -> DiscreteEnvironments: ...

    def evaluation(self, members: np.ndarray) -> DiscreteEnvironments: ...

    def newcomers(self) -> "DiscreteTask": ...

    def observations(self, generators: Sequence[np.random.Generator], count: int) -> np.ndarray:
        """Observations of interest [seed, state, number], each seed's by its own generator."""

    def observation_limit(self) -> np.ndarray:
        """They lie within +- this: [number]."""


class Discretised:
    """Continuous environments of which each action is one of a grid: see `Environments`.

    Action i is row i of all combinations, each number on `levels` values evenly from -limit to
    limit. What is seen is of single precision.
    """

    start_size = 0

    def __init__(self, environments: Environments, levels: int):
        space = environments.action_space
        assert isinstance(space, Continuous)
        values = np.linspace(-space.limit, space.limit, levels)
        self.grid = np.array(list(product(values, repeat=space.size)))
        self.inner, self.action_space = environments, Discrete(len(self.grid))

    def __getattr__(self, name: str) -> Any:
        """All but the actions is as it was."""
        return getattr(self.inner, name)

    @property
    def observation(self) -> np.ndarray:
        return self.inner.observation.astype(np.float32)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        self.inner.step(self.grid[action[:, 0]], active)


@dataclass(frozen=True)
class DiscretisedTask:
    """A continuous task as value learners take it."""

    inner: Any
    levels: int
    training: np.ndarray
    held_out: np.ndarray

    @property
    def seeds(self) -> int:
        return self.training.shape[0]

    @property
    def agents(self) -> int:
        return self.training.shape[1]

    @property
    def cap(self) -> int:
        return self.inner.cap

    def environments(self) -> Discretised:
        own = replace(self.inner, training=self.training, held_out=self.held_out)
        return Discretised(own.environments(), self.levels)

    def evaluation(self, members: np.ndarray) -> Discretised:
        return Discretised(self.inner.evaluation(members), self.levels)

    def newcomers(self) -> "DiscretisedTask":
        return replace(self, training=self.held_out, held_out=self.held_out[:, :0])

    def observations(self, generators: Sequence[np.random.Generator], count: int) -> np.ndarray:
        """Uniform within the limits."""
        limit = self.observation_limit()
        shape = (count, len(limit))
        drawn = np.stack([random.uniform(-limit, limit, shape) for random in generators])
        return drawn.astype(np.float32)

    def observation_limit(self) -> np.ndarray:
        return self.inner.observation_limit()


def discretised(task: Any, levels: int) -> Any:
    """The task itself, where its actions are few; else with actions on a grid of so many levels."""
    if isinstance(task.environments().action_space, Discrete):
        return task
    return DiscretisedTask(task, levels, task.training, task.held_out)
