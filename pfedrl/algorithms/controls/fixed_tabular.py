"""Learners that do not learn: the floor and the ceiling of a tabular task."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pfedrl.algorithms.tabular import kernels
from pfedrl.core.measurement import Measurement
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class FixedPolicy:
    """A policy that is known beforehand, measured where the learners are."""

    def __init__(self, task: TabularTask, optimal: bool):
        self.task = task
        self.optimal = optimal
        self.parts: Parts = {}

    def values(self, members: np.ndarray) -> np.ndarray:
        """V(d0) averaged over members: of the uniform policy, or of each member's own optimum."""
        task = self.task
        shared = (task.reward, members, task.successors, task.actions, task.gamma)
        if self.optimal:
            tables = kernels.optimal_tables(*shared, 1e-10)
            by_state = tables.reshape(len(members), task.states, task.actions, -1)
            values = by_state.max(axis=2)
        else:
            uniform = np.full(task.reward.shape, 1.0 / task.actions)
            values = kernels.policy_values(uniform, *shared)
        return task.at_start(values)

    def measure(self) -> Iterator[Measurement]:
        for name, members in self.task.places().items():
            yield Measurement("iteration", 0, name, self.task.score(self.values(members)))

    def observe(self) -> None:
        """Nothing changes, so there is nothing to watch."""

    def advance(self, steps: int) -> None:
        """Nothing is learnt."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing was kept."""
