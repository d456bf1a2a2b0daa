"""QAvg, Theorem 2: how fast QAvg converges under the theorem's own step size."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.tabular import kernels
from pfedrl.algorithms.tabular.learner import QLearner
from pfedrl.algorithms.tabular.step_size import Theorem2 as StepSize
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import server_average
from pfedrl.theory.statement import Statement


class Theorem2(Statement):
    """With eta_t = 2/((1-gamma)(t+E)), ||Q-bar_t - Q_I*|| <= 16 gamma E / ((1-gamma)^3 (t+E)).

    The proof's Lemma 4 needs Q in [0, 1/(1-gamma)], which eta_t <= 1 would keep. But eta_t > 1
    while t + E < 2/(1-gamma), and a step larger than 1 can throw Q far out of that range.
    """

    label: ClassVar[str] = "QAvg Theorem 2"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness", "appendix_margin", "slope")

    local_steps: int = Field(gt=0, description="E")
    iterations: int = Field(2000, gt=3, description="T")
    gamma: float = Field(0.9, gt=0, lt=1)

    @property
    def family(self) -> RandomMDP:
        """The paper's RandomMDPs: 5 environments, 5 states, 5 actions, rewards in [0, 1]."""
        return RandomMDP(support=0.2, gamma=self.gamma)

    def errors(self, task: TabularTask, seeds: Sequence[int]) -> Iterator[np.ndarray]:
        """||Q-bar_t - Q_I*||_inf for t = 0 to T: [seed] each."""
        shared = (task.successors, task.actions, task.gamma)
        optimum = kernels.optimal_tables(task.reward, task.imaginary(), *shared, 1e-12)[0]
        step_size = StepSize(len(seeds), self.gamma, self.local_steps)
        learner = QLearner(task, seeds, step_size, as_printed=True)
        exchange = server_average(self.local_steps)
        for iteration in range(self.iterations + 1):
            yield np.abs(learner.tables.mean(axis=0) - optimum).max(axis=0)
            learner.advance(1)
            if (iteration + 1) % self.local_steps == 0:
                exchange(learner.parts, iteration // self.local_steps)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least of bound - error over t; `tightness`: the greatest error / bound.

        `appendix_margin` is the margin under the appendix's constant, which has E-1 for E.
        `slope` is that of log error against log(t+E) over the second half; the bound's is -1.
        """
        margin, appendix_margin = np.full((2, len(seeds)), np.inf)
        scaled = np.zeros(len(seeds))
        line = Line(len(seeds))
        constant = 16 * self.gamma / (1 - self.gamma) ** 3
        for t, error in enumerate(self.errors(self.family.task(self.family.draw(seeds)), seeds)):
            time = t + self.local_steps
            margin = np.minimum(margin, constant * self.local_steps / time - error)
            appendix_margin = np.minimum(
                appendix_margin, constant * (self.local_steps - 1) / time - error
            )
            scaled = np.maximum(scaled, time * error)
            if t > self.iterations // 2:
                line.add(np.log(time), np.log(np.maximum(error, np.finfo(float).tiny)))
        return {
            "margin": margin,
            "tightness": scaled / (constant * self.local_steps),
            "appendix_margin": appendix_margin,
            "slope": line.slope(),
        }

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
        """The Q table that all agents start from, [s, a]."""
        start = QLearner(task, [seed], StepSize(1, self.gamma, 1), as_printed=True).tables[0, :, 0]
        return start.reshape(task.states, task.actions)


class Line:
    """A least-squares line through points (x, y [seed]) that come one at a time."""

    def __init__(self, seeds: int):
        self.sums = np.zeros((4, seeds))  # of x, y, x^2 and x y
        self.count = 0

    def add(self, x: float, y: np.ndarray) -> None:
        self.sums += np.stack([np.full_like(y, x), y, np.full_like(y, x * x), x * y])
        self.count += 1

    def slope(self) -> np.ndarray:
        x, y, xx, xy = self.sums / self.count
        return (xy - x * y) / (xx - x * x)
