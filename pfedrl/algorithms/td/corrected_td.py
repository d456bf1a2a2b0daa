"""TD(0) on tables, each step with a correction of every entry."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.td.learner import TableTD
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class CorrectedTD(TableTD):
    """A value table for every agent, and xi_i, which is added to each of its steps."""

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int, alpha: PowerLaw):
        super().__init__(task, seeds, transitions, alpha)
        self.correction = np.zeros_like(self.table)

    @property
    def parts(self) -> Parts:
        return {"table": self.table, "correction": self.correction}

    def update(self, uniforms: np.ndarray) -> None:
        cumulative, target, reward, terminal, restart, gamma = self.chains()
        alpha, x, i = self.alpha.at(self.round), *np.indices(self.states.shape)
        for step in range(self.transitions):
            happens, begins = np.moveaxis(uniforms[:, :, 2 * step : 2 * step + 2], 2, 0)
            s = self.states
            outcome = (happens[..., None] >= cumulative[x, i, s][..., :-1]).sum(axis=-1)
            reached = target[s, outcome]
            ended = terminal[reached]
            ahead = np.where(ended, 0.0, gamma * self.table[x, i, reached])
            error = reward[x, s, outcome] + ahead - self.table[x, i, s]
            self.table += alpha * self.correction
            self.table[x, i, s] += alpha * error
            begun = (begins[..., None] >= restart[:-1]).sum(axis=-1)
            self.states = np.where(ended, begun, reached)
            self.episodes += ended
