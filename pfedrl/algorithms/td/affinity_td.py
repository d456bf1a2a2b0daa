"""TD(0) on tables, and what the same transitions would do to a common table."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.td.learner import TableTD
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class AffinityTD(TableTD):
    """Beside an agent's table its copy of the common one ("common"), and of its last K transitions
    their states and outcomes ("seen", "outcome"), and their errors in the common table."""

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int, alpha: PowerLaw):
        super().__init__(task, seeds, transitions, alpha)
        self.common = np.zeros_like(self.table)
        last = (*self.states.shape, transitions)
        self.seen, self.outcome = np.zeros(last, np.int32), np.zeros(last, np.int32)
        self.errors = np.zeros(last)

    @property
    def parts(self) -> Parts:
        return {
            "table": self.table, "common": self.common, "seen": self.seen,
            "outcome": self.outcome, "errors": self.errors,
        }  # fmt: skip

    def update(self, uniforms: np.ndarray) -> None:
        """All K steps are of the tables as they were."""
        cumulative, target, reward, terminal, restart, gamma = self.chains()
        x, i = np.indices(self.states.shape)
        step = np.zeros_like(self.table)
        for k in range(self.transitions):
            happens, begins = uniforms[:, :, 2 * k], uniforms[:, :, 2 * k + 1]
            s = self.states
            outcome = (happens[..., None] >= cumulative[x, i, s][..., :-1]).sum(axis=-1)
            reached = target[s, outcome]
            ended, gained = terminal[reached], reward[x, s, outcome]
            own, common = (
                gained + np.where(ended, 0.0, gamma * table[x, i, reached]) - table[x, i, s]
                for table in (self.table, self.common)
            )
            step[x, i, s] += own
            self.seen[..., k], self.outcome[..., k], self.errors[..., k] = s, outcome, common
            begun = (begins[..., None] >= restart[:-1]).sum(axis=-1)
            self.states = np.where(ended, begun, reached)
            self.episodes += ended
        self.table += self.alpha.at(self.round) * step
