"""QAvg, Theorem 3: how far PAvg stays from the best policy, and whether kappa_2 drives it."""

from collections.abc import Sequence
from typing import Any, ClassVar

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


class Theorem3(Statement):
    """Under eta_t = sqrt(E/(12 L^2 (t+E/3))): max_t g(pi-bar_t) >= g(pi*) - c (kappa_2 + T^-1/2).

    c is not given, so that what can be checked is the direction: whether the gap grows with
    kappa_2, on the same base at two sizes of noise. The appendix's full version (its Theorem 6)
    bounds the gradient mapping with all constants, and is checked as it stands.
    """

    label: ClassVar[str] = "QAvg Theorem 3"
    records: ClassVar[tuple[str, ...]] = ("gap", "kappa_2", "gradient_margin", "gradient_tightness")

    kappa: float = Field(ge=0, le=1, description="size of the noise around the centre P_0")
    local_steps: int = Field(16, gt=0, description="E")
    iterations: int = Field(16000, gt=3, description="T")
    states: int = Field(3, gt=1)
    actions: int = Field(2, gt=1)
    agents: int = Field(5, gt=1, description="n")
    gamma: float = Field(
        0.5, gt=0, lt=1, description="small: L grows as (1-gamma)^-3, and eta_t shrinks with L"
    )
    random_policies: int = Field(32, ge=0, description="tried for kappa_2 besides deterministic")
    ascent_steps: int = Field(400, gt=0, description="of centralised ascent to the best policy")

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

    def dense(self, task: TabularTask, seeds: Sequence[int]) -> Instances:
        """The same environments as plain matrices, and where PAvg starts."""
        shape = (len(seeds), self.states, self.actions)
        step_size = StepSize(len(seeds), self.smoothness, self.local_steps)
        learner = ProjectedPolicyLearner(task, seeds, step_size)
        return Instances(
            moves=task.dense(task.training),
            reward=task.reward.T.reshape(shape),
            policy=learner.tables[0].T.reshape(shape),
            gamma=self.gamma,
        )

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`gap`: the best g found less max_t g(pi-bar_t); `kappa_2`: the largest value found.

        `gradient_margin` and `gradient_tightness` are those of the appendix's Theorem 6, its
        minimum taken over the rounds, with the kappa_2 found: a lower bound, so that a bound which
        holds with it holds.
        """
        task = self.task(seeds)
        tasks = self.dense(task, seeds)
        kappa_2 = self.kappa_2(tasks, seeds)
        first, last, highest, smallest = self.train(task, tasks, seeds)
        bound = self.gradient_bound(kappa_2, last - first)
        return {
            "gap": np.maximum(self.best(tasks), highest) - highest,
            "kappa_2": kappa_2,
            "gradient_margin": bound - smallest,
            "gradient_tightness": smallest / bound,
        }

    def objective(self, tasks: Instances, policy: np.ndarray) -> np.ndarray:
        """g_d0(pi): [seed]."""
        by_state = values(policy, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)
        return by_state @ self.start

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

    def train(
        self, task: TabularTask, tasks: Instances, seeds: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """g at the start, at the end and at its highest, and min_t ||G(pi-bar_t)||^2: [seed]."""
        step_size = StepSize(len(seeds), self.smoothness, self.local_steps)
        learner = ProjectedPolicyLearner(task, seeds, step_size)
        exchange = server_average(self.local_steps)
        first = last = highest = self.objective(tasks, tasks.policy)
        smallest = np.full(len(seeds), np.inf)
        for number in range(self.iterations // self.local_steps):
            policy = learner.tables[0].T.reshape(tasks.policy.shape)
            eta = step_size.at(np.array(step_size.iteration))
            gradient = gradients(policy, tasks, self.start).mean(axis=1)
            mapping = (project(policy + eta * gradient) - policy) / eta
            smallest = np.minimum(smallest, (mapping**2).sum(axis=(1, 2)))
            learner.advance(self.local_steps)
            exchange(learner.parts, number)
            last = learner.value(learner.tables[0], task.training)
            highest = np.maximum(highest, last)
        return first, last, highest, smallest

    def gradient_bound(self, kappa_2: np.ndarray, gained: np.ndarray) -> np.ndarray:
        """The right side of the appendix's Theorem 6."""
        steps, smoothness, horizon = self.local_steps, self.smoothness, 1 - self.gamma
        root = np.sqrt(self.iterations // steps * steps)
        drift = 2 * steps * (steps - 1) * self.actions * smoothness / horizon**4
        logarithm = np.log(1 + 3 * root**2 / steps)
        return (
            2 * kappa_2 * np.sqrt(self.actions) / horizon**2
            + np.sqrt(24 * smoothness**2 / steps) * gained / root
            + np.sqrt(steps / (6 * smoothness**2))
            * (drift + 2 * kappa_2**2 * smoothness)
            * logarithm
            / root
        )

    def best(self, tasks: Instances) -> np.ndarray:
        """The highest g found: every deterministic policy, and ascent from the best and the middle.

        A lower bound of the optimum, which no algorithm finds in general.
        """
        highest = np.full(len(tasks.reward), -np.inf)
        leader = np.zeros_like(tasks.policy)
        for policy in deterministic_policies(self.states, self.actions):
            everywhere = np.broadcast_to(policy, tasks.policy.shape)
            value = self.objective(tasks, everywhere)
            better = value > highest
            leader[better], highest[better] = policy, value[better]
        for start in (leader, np.full_like(tasks.policy, 1.0 / self.actions)):
            policy = start
            for _ in range(self.ascent_steps):
                gradient = gradients(policy, tasks, self.start).mean(axis=1)
                policy = project(policy + gradient / self.smoothness)
            highest = np.maximum(highest, self.objective(tasks, policy))
        return highest

    def instance(self, seed: int) -> dict[str, Any]:
        return self.dense(self.task([seed]), [seed]).numbers()
