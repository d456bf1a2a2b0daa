"""Tabular learners: exact local updates, and exact evaluation of what was learnt."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.tabular import kernels
from pfedrl.algorithms.tabular.step_size import StepSize
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.core.sums import mean_in_order
from pfedrl.envs.tabular.task import TabularTask, seed_first
from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner


class TabularLearner(Learner):
    """A table for every agent of every seed: Q values, logits or action probabilities."""

    def __init__(self, task: TabularTask, seeds: Sequence[int], step_size: StepSize):
        self.task = task
        self.step_size = step_size
        start = self.initial(seeds)
        self.tables = np.repeat(start[None], task.agents, axis=0)  # [agent, row, seed]
        self.iteration = 0
        self.history: list[tuple[int, np.ndarray]] = []  # iteration and objective [seed] a round

    @property
    def parts(self) -> Parts:
        """The stack that travels: [seed, agent, row], a view on the tables."""
        return {"table": seed_first(self.tables)}

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        """U(0,1) entries, the same for all agents of a seed."""
        rows = self.task.states * self.task.actions
        start = np.empty((rows, len(seeds)))
        for column, seed in enumerate(seeds):
            start[:, column] = generator(seed, Purpose.INITIAL).random(rows)
        return start

    @abstractmethod
    def policy(self, table: np.ndarray) -> np.ndarray:
        """The policy [row, seed] that a table [row, seed] stands for."""

    @abstractmethod
    def update(self, step_size: np.ndarray) -> None:
        """Local steps of every agent, in place, with sizes [step, seed]."""

    def advance(self, steps: int) -> None:
        self.update(self.step_size.next(steps))
        self.iteration += steps

    def observe(self) -> None:
        """The step size rule looks at the objective of the agents' average, before scoring."""
        objective = self.value(self.policy(self.tables.mean(axis=0)), self.task.training)
        self.step_size.observe(objective)
        self.history.append((self.iteration, objective))

    def value(self, policy: np.ndarray, members: np.ndarray) -> np.ndarray:
        """V^pi(d0) averaged over members: [seed]."""
        task = self.task
        values = kernels.policy_values(
            policy, task.reward, members, task.successors, task.actions, task.gamma
        )
        return task.at_start(values)

    def measure(self) -> Iterator[Measurement]:
        """The averaged model in the training, centre and held-out environments.

        `baseline_*` is the paper's Baseline (Section 7.1): the mean over all pairs of an agent's
        own model and an environment. It differs from the rest where agents never meet.
        """
        places = self.task.places()
        average = self.policy(self.tables.mean(axis=0))
        for name, members in places.items():
            yield self._measured(name, self.value(average, members))
        yield Measurement("iteration", self.iteration, "settled_at", self.settled_at())
        apart = np.flatnonzero((self.tables != self.tables[:1]).any(axis=(0, 1)))
        if len(apart):  # where all agents of a seed hold the same table, it has no baseline
            own = [self.policy(table) for table in self.tables]
            for name in (place for place in places if place != "centre_value"):
                local = np.stack([self.value(policy, places[name]) for policy in own])
                yield self._measured(f"baseline_{name}", mean_in_order(local), apart)

    def _measured(
        self, metric: str, values: np.ndarray, rows: np.ndarray | None = None
    ) -> Measurement:
        scores = self.task.score(values if rows is None else values[rows])
        return Measurement("iteration", self.iteration, metric, scores, rows)

    def settled_at(self) -> np.ndarray:
        """The iteration from which on the objective stayed within 1% of where it is now: [seed]."""
        objectives = np.stack([objective for _, objective in self.history])
        away = np.abs(objectives - objectives[-1]) > 0.01 * np.abs(objectives[-1])
        rounds = len(away) - np.argmax(away[::-1], axis=0)  # one past the last round away
        iterations = np.array([iteration for iteration, _ in self.history])
        return np.where(away.any(axis=0), iterations[rounds % len(away)], 0).astype(float)

    def state(self) -> dict[str, Any]:
        return {
            "tables": self.tables,
            "iteration": self.iteration,
            "history": self.history,
            "step_size": self.step_size.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.tables = state["tables"]
        self.iteration = state["iteration"]
        self.history = state["history"]
        self.step_size.restore(state["step_size"])


class QLearner(TabularLearner):
    """Q tables, updated by expected backups."""

    def __init__(
        self, task: TabularTask, seeds: Sequence[int], step_size: StepSize, as_printed: bool
    ):
        super().__init__(task, seeds, step_size)
        self.kernel = kernels.damped_tables if as_printed else kernels.damped_values

    def policy(self, table: np.ndarray) -> np.ndarray:
        return kernels.greedy(table, self.task.actions)

    def update(self, step_size: np.ndarray) -> None:
        task = self.task
        self.kernel(
            self.tables, task.reward, task.training, task.successors, task.actions, task.gamma,
            step_size,
        )  # fmt: skip


class SoftmaxPolicyLearner(TabularLearner):
    """Logits, updated by the natural policy gradient."""

    def policy(self, table: np.ndarray) -> np.ndarray:
        return kernels.softmax(table, self.task.actions)

    def update(self, step_size: np.ndarray) -> None:
        task = self.task
        kernels.natural_gradient(
            self.tables, task.reward, task.training, task.successors, task.actions, task.gamma,
            step_size,
        )  # fmt: skip


class ProjectedPolicyLearner(TabularLearner):
    """Action probabilities, updated by the policy gradient and projected on the simplex."""

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        start = super().initial(seeds)
        by_state = start.reshape(self.task.states, self.task.actions, -1)
        return (by_state / by_state.sum(axis=1, keepdims=True)).reshape(start.shape)

    def policy(self, table: np.ndarray) -> np.ndarray:
        return table

    def update(self, step_size: np.ndarray) -> None:
        task = self.task
        kernels.projected_gradient(
            self.tables, task.reward, task.training, task.successors, task.actions, task.gamma,
            task.start, step_size,
        )  # fmt: skip
