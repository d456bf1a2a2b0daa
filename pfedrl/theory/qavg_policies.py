"""PAvg run under the step size of QAvg's Theorem 3, for the statements about its course."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.algorithms.tabular.learner import ProjectedPolicyLearner
from pfedrl.algorithms.tabular.step_size import Theorem3 as StepSize
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import server_average
from pfedrl.theory.instances import (
    Instances,
    deterministic_policies,
    gradients,
    project,
    simplex,
    values,
)
from pfedrl.theory.statement import Statement


@dataclass(frozen=True)
class Moment:
    """PAvg at an iteration t: each agent's policy [seed, agent, s, a] and the step eta_t."""

    policies: np.ndarray
    step: float

    @property
    def mean(self) -> np.ndarray:
        """pi-bar_t, [seed, s, a]."""
        return self.policies.mean(axis=1)

    def distances(self) -> np.ndarray:
        """||pi_t^k - pi-bar_t||_2, [seed, agent]."""
        apart = self.policies - self.mean[:, None]
        return np.sqrt((apart**2).sum(axis=(2, 3)))


class PAvgStatement(Statement):
    """Environments around a centre, and ProjPAvg on them, eta_t = sqrt(E/(12 L^2 (t+E/3)))."""

    kappa: float = Field(0.8, ge=0, le=1, description="size of the noise around the centre P_0")
    local_steps: int = Field(16, gt=0, description="E")
    iterations: int = Field(16000, gt=3, description="T")
    states: int = Field(3, gt=1)
    actions: int = Field(2, gt=1)
    agents: int = Field(5, gt=1, description="n")
    gamma: float = Field(
        0.5, gt=0, lt=1, description="small: L grows as (1-gamma)^-3, and eta_t shrinks with L"
    )
    random_policies: int = Field(32, ge=0, description="tried for kappa_2 besides deterministic")

    @property
    def smoothness(self) -> float:
        """L of g under direct parametrisation, for rewards in [0, 1] (Agarwal et al. 2019)."""
        return 2 * self.gamma * self.actions / (1 - self.gamma) ** 3

    @property
    def start(self) -> np.ndarray:
        return np.full(self.states, 1.0 / self.states)

    def task(self, seeds: Sequence[int]) -> TabularTask:
        family = RandomMDP(
            states=self.states, actions=self.actions, agents=self.agents, gamma=self.gamma,
            support=0.5, around_centre=True, kappa=self.kappa,
        )  # fmt: skip
        return family.task(family.draw(seeds))

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> ProjectedPolicyLearner:
        step_size = StepSize(len(seeds), self.smoothness, self.local_steps)
        return ProjectedPolicyLearner(task, seeds, step_size)

    def dense(self, task: TabularTask, seeds: Sequence[int]) -> Instances:
        """The same environments as plain matrices, and where PAvg starts."""
        shape = (len(seeds), self.states, self.actions)
        return Instances(
            moves=task.dense(task.training),
            reward=task.reward.T.reshape(shape),
            policy=self.learner(task, seeds).tables[0].T.reshape(shape),
            gamma=self.gamma,
        )

    def course(self, task: TabularTask, seeds: Sequence[int], stride: int) -> Iterator[Moment]:
        """t = 0, stride, ... to T; the stride is 1 or E."""
        learner = self.learner(task, seeds)
        exchange = server_average(self.local_steps)
        schedule = StepSize(len(seeds), self.smoothness, self.local_steps)
        shape = (self.agents, len(seeds), self.states, self.actions)
        for iteration in range(0, self.iterations + 1, stride):
            policies = np.swapaxes(learner.tables, 1, 2).reshape(shape)
            step = float(schedule.at(np.array(iteration)))
            yield Moment(np.swapaxes(policies, 0, 1).copy(), step)
            learner.advance(stride)
            if (iteration + stride) % self.local_steps == 0:
                exchange(learner.parts, iteration // self.local_steps)

    def objective(self, tasks: Instances, policy: np.ndarray) -> np.ndarray:
        """g_d0(pi): [seed]."""
        by_state = values(policy, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)
        return by_state @ self.start

    def mapping(self, tasks: Instances, policy: np.ndarray, step: float) -> np.ndarray:
        """||G(pi)||_2, how far a projected step of the mean gradient moves, over the step."""
        gradient = gradients(policy, tasks, self.start).mean(axis=1)
        moved = (project(policy + step * gradient) - policy) / step
        return np.sqrt((moved**2).sum(axis=(1, 2)))

    def kappa_2(self, tasks: Instances, seeds: Sequence[int]) -> np.ndarray:
        """max_pi of the mean distance of the environments' gradients from their mean.

        Over all deterministic and some random policies: a lower bound of the true maximum.
        """
        shape = (self.random_policies, self.states, self.actions)
        drawn = [simplex(generator(s, Purpose.INSTANCE), shape, 1.0) for s in seeds]
        tried = [*np.moveaxis(np.stack(drawn), 1, 0)]
        for policy in deterministic_policies(self.states, self.actions):
            tried.append(np.broadcast_to(policy, tasks.policy.shape))
        largest = np.zeros(len(seeds))
        for policy in tried:
            gradient = gradients(policy, tasks, self.start)
            apart = gradient - gradient.mean(axis=1, keepdims=True)
            distance = np.sqrt((apart**2).sum(axis=(2, 3))).mean(axis=1)
            largest = np.maximum(largest, distance)
        return largest

    def best(self, tasks: Instances, ascent_steps: int = 400) -> tuple[np.ndarray, np.ndarray]:
        """The best policy found [seed, s, a] and its g [seed].

        Every deterministic policy, and ascent from the best of them and from the middle: a lower
        bound of the optimum, which no algorithm finds in general.
        """
        leader = np.full_like(tasks.policy, 1.0 / self.actions)
        highest = np.full(len(tasks.reward), -np.inf)

        def consider(policy: np.ndarray) -> None:
            value = self.objective(tasks, policy)
            better = value > highest
            leader[better], highest[better] = policy[better], value[better]

        for policy in deterministic_policies(self.states, self.actions):
            consider(np.broadcast_to(policy, tasks.policy.shape))
        for start in (leader.copy(), np.full_like(tasks.policy, 1.0 / self.actions)):
            policy = start
            for _ in range(ascent_steps):
                gradient = gradients(policy, tasks, self.start).mean(axis=1)
                policy = project(policy + gradient / self.smoothness)
            consider(policy)
        return leader, highest

    def instance(self, seed: int) -> dict[str, Any]:
        return self.dense(self.task([seed]), [seed]).numbers()
