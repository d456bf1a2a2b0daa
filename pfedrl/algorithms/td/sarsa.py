"""SARSA on tables: agents act by a softmax of their own values and learn from what they do."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.td.q_learner import SampledQLearner
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class TableSarsa(SampledQLearner):
    """A Q table for every agent, from zero; an agent's next action is chosen before it learns."""

    KEPT = (*SampledQLearner.KEPT, "actions")

    def __init__(
        self, task: TabularTask, seeds: Sequence[int], transitions: int, eta: float,
        temperature: float,
    ):  # fmt: skip
        super().__init__(task, seeds, transitions)
        self.eta, self.temperature = eta, temperature
        self.tables = np.zeros((len(seeds), task.agents, task.states * task.actions))
        self.actions = self.chosen(self.uniforms.take(1)[..., 0])

    @property
    def parts(self) -> Parts:
        return {"table": self.tables}

    def values(self) -> np.ndarray:
        return self.tables

    def chosen(self, uniform: np.ndarray) -> np.ndarray:
        """An action of every agent in its state, by the softmax: [seed, agent]."""
        count = self.task.actions
        rows = self.states[..., None] * count + np.arange(count)
        scaled = np.take_along_axis(self.tables, rows, axis=2) / self.temperature
        weights = np.exp(scaled - scaled.max(axis=2, keepdims=True))
        sums = np.cumsum(weights, axis=2)
        return (uniform[..., None] * sums[..., -1:] >= sums[..., :-1]).sum(axis=2)

    def update(self, uniforms: np.ndarray) -> None:
        cumulative, successors, rewards, terminal, restart, gamma = self.environments()
        x, i = np.indices(self.states.shape)
        for step in range(self.transitions):
            happens, begins, acts = np.moveaxis(uniforms[:, :, 3 * step : 3 * step + 3], 2, 0)
            row = self.states * self.task.actions + self.actions
            move = (happens[..., None] >= cumulative[x, i, row][..., :-1]).sum(axis=-1)
            reached = successors[row, move]
            ended = terminal[reached]
            begun = (begins[..., None] >= restart[:-1]).sum(axis=-1)
            self.states = np.where(ended, begun, reached)
            self.actions = self.chosen(acts)
            following = self.states * self.task.actions + self.actions
            ahead = np.where(ended, 0.0, gamma * self.tables[x, i, following])
            error = rewards[x, row] + ahead - self.tables[x, i, row]
            self.tables[x, i, row] += self.eta * error
