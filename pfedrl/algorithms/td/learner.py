"""TD learners: each agent estimates the value of its own policy from its own trajectory."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.td import kernels
from pfedrl.algorithms.td.sampled import SampledLearner, unit_rows
from pfedrl.algorithms.td.sampling import cumulative
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.core.measurement import Measurement
from pfedrl.envs.tabular.chain import chain
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts

NEAR = 0.05  # an estimate within 5% of the truth counts as converged


class TDLearner(SampledLearner):
    """Agents on their chains: how many episodes they finished, and what is true."""

    DRAWS = kernels.TD_DRAWS
    KEPT = ("states", "round", "episodes", "arrived")

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int):
        self.chain = chain(task)
        super().__init__(task, seeds, transitions, self.chain.restart)
        self.truth = self.chain.values()
        self.starts = np.flatnonzero(task.start)  # the states that d0 is about
        self.visited = self.chain.stationary() > 1e-12
        self.cumulative = cumulative(self.chain.probability)
        self.episodes = np.zeros(self.states.shape, np.int64)
        self.arrived = np.full(self.states.shape, np.nan)  # the episode since which it is near

    @abstractmethod
    def values(self, states: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The agents' estimates for some states, [seed, agent, s]."""

    def chains(self) -> tuple[Any, ...]:
        """What the kernels need to follow the agents' chains."""
        walk = self.chain
        return (self.cumulative, walk.target, walk.reward, walk.terminal, self.restart, walk.gamma)

    def start_values(self, values: np.ndarray) -> np.ndarray:
        """V(d0), [seed, agent]."""
        return values @ self.task.start

    def observe(self) -> None:
        """Since which episode an agent's estimate has been near the truth without interruption."""
        weight = self.task.start[self.starts]
        truth = self.truth[..., self.starts] @ weight
        off = np.abs(self.values(self.starts) @ weight - truth) > NEAR * np.abs(truth)
        self.arrived[off] = np.nan
        fresh = ~off & np.isnan(self.arrived)
        self.arrived[fresh] = self.episodes[fresh]

    def measure(self) -> Iterator[Measurement]:
        """Each agent's estimate at the start beside the truth, its error, and its episodes.

        `converged_at` is the episode since which an agent's estimate has been within 5%; an agent
        that has not converged counts the episodes it has had so far.
        """
        values = self.values()
        weight = self.visited / self.visited.sum(axis=-1, keepdims=True)
        squared = (weight * (values - self.truth) ** 2).sum(axis=-1)
        converged = np.where(np.isnan(self.arrived), self.episodes, self.arrived)
        yield self._measured("negative_value", -self.start_values(values))
        yield self._measured("negative_true_value", -self.start_values(self.truth))
        yield self._measured("root_mean_squared_error", np.sqrt(squared))
        yield self._measured("spread", self.start_values(values).std(axis=1))
        yield self._measured("episodes", self.episodes.astype(float))
        yield self._measured("converged_at", converged)
        yield self._measured("error_at_start", np.abs(self.start_values(values - self.truth)))

    def _measured(self, metric: str, values: np.ndarray) -> Measurement:
        return Measurement("round", self.round, metric, values)


class TableTD(TDLearner):
    """A value table for every agent, from zero, by TD(0)."""

    def __init__(self, task: TabularTask, seeds: Sequence[int], transitions: int, alpha: PowerLaw):
        super().__init__(task, seeds, transitions)
        self.alpha = alpha
        self.table = np.zeros((len(seeds), task.agents, task.states))

    @property
    def parts(self) -> Parts:
        return {"table": self.table}

    def values(self, states: np.ndarray | slice = slice(None)) -> np.ndarray:
        return self.table[..., states]

    def update(self, uniforms: np.ndarray) -> None:
        kernels.table_td(
            self.table, self.states, self.episodes, uniforms, *self.chains(),
            self.alpha.at(self.round),
        )  # fmt: skip


class RepresentationTD(TDLearner):
    """Features that are shared and weights that are not: V = Phi theta (PFedTD-Rep)."""

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
        first = unit_rows(seeds, task.states, dimension)
        self.features = np.repeat(first[:, None], task.agents, axis=1)
        self.weights = np.zeros((len(seeds), task.agents, dimension))

    @property
    def parts(self) -> Parts:
        return {"features": self.features, "weights": self.weights}

    def values(self, states: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.einsum("xisd,xid->xis", self.features[:, :, states], self.weights)

    def update(self, uniforms: np.ndarray) -> None:
        kernels.representation_td(
            self.weights, self.features, self.states, self.episodes, uniforms, *self.chains(),
            self.alpha.at(self.round), self.beta.at(self.round), self.bound,
        )  # fmt: skip
