"""Q-learners that sample: each agent explores its own environment at random and learns from it."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.tabular.kernels import greedy, policy_values
from pfedrl.algorithms.td import kernels
from pfedrl.algorithms.td.sampled import SampledLearner, unit_rows
from pfedrl.algorithms.td.sampling import cumulative
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.core.measurement import Measurement
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class SampledQLearner(SampledLearner):
    """Agents in their environments under the uniformly random sampling policy."""

    DRAWS = kernels.Q_DRAWS

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int):
        super().__init__(task, seeds, transitions, task.restarts())
        moves = task.training.reshape(task.agents, *task.successors.shape, task.seeds)
        self.cumulative = cumulative(np.ascontiguousarray(np.moveaxis(moves, -1, 0)))
        self.rewards = np.ascontiguousarray(task.reward.T)

    @abstractmethod
    def values(self) -> np.ndarray:
        """Q of every agent, [seed, agent, s*A + a]."""

    def environments(self) -> tuple[Any, ...]:
        """What the kernels need to move the agents."""
        task = self.task
        return (
            self.cumulative, task.successors, self.rewards, task.terminal_states(), self.restart,
            task.gamma,
        )  # fmt: skip

    def measure(self) -> Iterator[Measurement]:
        """V(d0) of each agent's own greedy policy, solved exactly: at home, and anywhere."""
        task, tables = self.task, self.values()
        at_home = np.empty(tables.shape[:2])
        for agent in range(task.agents):
            policy = greedy(np.ascontiguousarray(tables[:, agent].T), task.actions)
            values = policy_values(
                policy, task.reward, task.training[agent : agent + 1], task.successors,
                task.actions, task.gamma,
            )  # fmt: skip
            at_home[:, agent] = task.score(task.at_start(values))
        yield Measurement("round", self.round, "objective", at_home)


class TableQ(SampledQLearner):
    """A Q table for every agent, from zero, and how often each entry was visited."""

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int, eta: float):
        super().__init__(task, seeds, transitions)
        self.eta = eta
        self.tables = np.zeros((len(seeds), task.agents, task.states * task.actions))
        self.visits = np.zeros_like(self.tables)  # since whoever reads them last cleared them

    @property
    def parts(self) -> Parts:
        return {"table": self.tables, "visits": self.visits}

    def values(self) -> np.ndarray:
        return self.tables

    def update(self, uniforms: np.ndarray) -> None:
        kernels.table_q(
            self.tables, self.visits, self.states, uniforms, *self.environments(), self.eta
        )


class RepresentationQ(SampledQLearner):
    """Features that are shared and weights that are not: Q = Phi theta (PFedQ-Rep)."""

    def __init__(
        self,
        task: TabularTask,
        seeds: Sequence[int],
        transitions: int,
        dimension: int,
        alpha: PowerLaw,
        beta: PowerLaw,
        bound: float,
    ):
        super().__init__(task, seeds, transitions)
        self.alpha, self.beta, self.bound = alpha, beta, bound
        first = unit_rows(seeds, task.states * task.actions, dimension)
        self.features = np.repeat(first[:, None], task.agents, axis=1)
        self.weights = np.zeros((len(seeds), task.agents, dimension))

    @property
    def parts(self) -> Parts:
        return {"features": self.features, "weights": self.weights}

    def values(self) -> np.ndarray:
        return np.einsum("xird,xid->xir", self.features, self.weights)

    def update(self, uniforms: np.ndarray) -> None:
        kernels.representation_q(
            self.weights, self.features, self.states, uniforms, *self.environments(),
            self.alpha.at(self.round), self.beta.at(self.round), self.bound,
        )  # fmt: skip
