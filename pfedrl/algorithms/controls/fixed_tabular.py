"""Learners that do not learn: the floor and the ceiling of a tabular task."""

from collections.abc import Iterator

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.algorithms.tabular import kernels
from pfedrl.core.measurement import Measurement
from pfedrl.envs.tabular.task import TabularTask


class FixedPolicy(FixedLearner):
    """A policy that is known beforehand, measured where the learners are."""

    def __init__(self, task: TabularTask, optimal: bool):
        self.task = task
        self.optimal = optimal

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
