"""QAvg run under the step size of its Theorem 2, for the statements about its course."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.algorithms.tabular import kernels
from pfedrl.algorithms.tabular.learner import QLearner
from pfedrl.algorithms.tabular.step_size import Theorem2 as StepSize
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import server_average
from pfedrl.theory.statement import Statement


@dataclass(frozen=True)
class Moment:
    """QAvg at an iteration t."""

    step: float  # eta_t, which the appendix calls lambda_t
    error: np.ndarray  # ||Q-bar_t - Q_I*||, [seed]
    spread: np.ndarray  # mean_k ||Q_t^k - Q-bar_t||, [seed]


class QAvgStatement(Statement):
    """Random tasks and QAvg on them, with eta_t = 2/((1-gamma)(t+E)) and the printed update."""

    local_steps: int = Field(gt=0, description="E")
    iterations: int = Field(2000, gt=3, description="T")
    gamma: float = Field(0.9, gt=0, lt=1)

    @property
    def family(self) -> RandomMDP:
        """The paper's RandomMDPs: 5 environments, 5 states, 5 actions, rewards in [0, 1]."""
        return RandomMDP(support=0.2, gamma=self.gamma)

    def course(self, seeds: Sequence[int]) -> Iterator[Moment]:
        """t = 0 to T; norms are largest entries."""
        task = self.family.task(self.family.draw(seeds))
        shared = (task.successors, task.actions, task.gamma)
        optimum = kernels.optimal_tables(task.reward, task.imaginary(), *shared, 1e-12)[0]
        step_size = StepSize(len(seeds), self.gamma, self.local_steps)
        learner = QLearner(task, seeds, step_size, as_printed=True)
        exchange = server_average(self.local_steps)
        for iteration in range(self.iterations + 1):
            mean = learner.tables.mean(axis=0)
            yield Moment(
                float(step_size.at(np.array(iteration))),
                np.abs(mean - optimum).max(axis=0),
                np.abs(learner.tables - mean).max(axis=1).mean(axis=0),
            )
            learner.advance(1)
            if (iteration + 1) % self.local_steps == 0:
                exchange(learner.parts, iteration // self.local_steps)

    def instance(self, seed: int) -> dict[str, Any]:
        task = self.family.task(self.family.draw([seed]))
        return {
            "gamma": self.gamma,
            "local_steps": self.local_steps,
            "moves": task.dense(task.training)[0].tolist(),
            "reward": task.reward[:, 0].reshape(task.states, task.actions).tolist(),
            "initial": self.initial(task, seed).tolist(),
        }

    def initial(self, task: TabularTask, seed: int) -> np.ndarray:
        """The Q table that all agents start from, [s, a]: U(0,1), within [0, 1/(1-gamma)]."""
        start = QLearner(task, [seed], StepSize(1, self.gamma, 1), as_printed=True).tables[0, :, 0]
        return start.reshape(task.states, task.actions)
