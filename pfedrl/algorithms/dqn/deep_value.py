"""What the deep value algorithms share: DQN agents, and what becomes of the result elsewhere."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.adaptation import Adaptation, adapt
from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.algorithms.dqn import metrics
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.core.recorder import Recorder
from pfedrl.envs.classic.task import ControlFamily, ControlTask
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.exchange import Exchange, never, server_average
from pfedrl.stack.loop import Control, recorded_rounds, train

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner
    from pfedrl.stack.distillation import Weighting


class DeepValue(Algorithm, DeepSettings):
    """DQN agents in rounds of local steps, then in the new environments."""

    kinds: ClassVar[frozenset[str]] = frozenset({"classic_control"})
    parts: ClassVar[tuple[str, ...]] = ("body", "head")  # of an agent's net
    shares: ClassVar[tuple[str, ...]]  # the parts that the server averages

    adapt_epsilon: float | None = Field(
        None, description="epsilon in the new environments, where it differs"
    )
    adapt_batch: int | None = Field(None, description="the batch there, where it differs")
    adapt_evaluations: int | None = Field(
        None, description="greedy evaluations on the way there; none: at the end"
    )

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        return DQNLearner(task, seeds, self)

    def exchange(self, task: ControlTask, seeds: Sequence[int]) -> Exchange:
        if not self.shares:
            return never(self.local_steps)
        return server_average(self.local_steps, self.shares)

    def rounds(self) -> int | None:
        """The learner counts episodes; in rounds of steps there is no saying how many they take."""
        return -(-self.episodes // self.local_steps) + 1 if self.unit == "episode" else None

    def metrics(self, family: ControlFamily) -> set[str]:
        agree = set(self.parts) == set(self.shares)
        found = metrics.of_each_agent(self, family) | metrics.of_all(self, family, agree)
        if self.adapt_episodes and family.newcomers:
            anew = metrics.of_each_agent(self.adapting(), family)
            found |= {f"{way}_{metric}" for way in self.adaptations() for metric in anew}
        return found

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        """Train together, then let each way of meeting the new environments do so."""
        assert family is not None
        task = family.task(draws)
        learner, exchange = self.learner(task, seeds), self.exchange(task, seeds)
        train(learner, exchange, self.rounds(), recorder, self.watching(learner, control))
        if self.adapt_episodes and task.held_out.shape[1]:
            points = self.adapt_evaluations or 0
            adapt(learner, self.adapting(), self.adaptations(), points, seeds, recorder)

    def watching(self, learner: "DQNLearner", control: Control) -> Control:
        """Marks of the curve and progress, both counted in episodes.

        The learner is asked after every round: it knows who is at a mark.
        """
        step = self.local_steps if self.unit == "episode" else 1
        looks = recorded_rounds(-(-self.episodes // step) + 1, control.curve_points)
        learner.marks = np.minimum(np.array(sorted(looks)) * step, self.episodes)
        return replace(
            control,
            curve_points=self.rounds() or 0,
            progress=lambda *_: control.progress(int(learner.episodes_done().min()), self.episodes),
        )

    def adaptations(self) -> dict[str, Adaptation]:
        """Ways of meeting a new environment, by the name their metrics start with."""
        return {"adapt": Adaptation((), "all")}

    def adapting(self) -> "DeepValue":
        """The settings in the new environments."""
        changes = {"epsilon": self.adapt_epsilon, "batch": self.adapt_batch}
        given = {key: value for key, value in changes.items() if value is not None}
        # evaluated after every episode where evaluations are asked for (QAvg's Figure 6)
        each = {"local_steps": 1, "fresh_rounds": False} if self.adapt_evaluations else {}
        return self.model_copy(update={"episodes": self.adapt_episodes, **given, **each})


class DistilledValue(DeepValue):
    """DQN agents that receive a net which the server fitted to all of theirs."""

    shares: ClassVar[tuple[str, ...]] = ()  # weights are not mixed, values are

    server_states: int = Field(256, gt=0, description="states that the server draws an exchange")
    server_fits: int = Field(100, gt=0, description="its Adam steps on their labels")

    @abstractmethod
    def weighting(self, task: ControlTask) -> "Weighting":
        """Whose values count how much."""

    def exchange(self, task: ControlTask, seeds: Sequence[int]) -> Exchange:
        from pfedrl.stack.distillation import Distillation
        from pfedrl.stack.nets import Perceptron

        physics = task.physics

        def states(generators: Sequence[np.random.Generator]) -> np.ndarray:
            """Uniform in the box of interest."""
            shape = (self.server_states, physics.STATE)
            drawn = np.stack([g.uniform(-1, 1, shape) for g in generators])
            return physics.observations(drawn * physics.box)

        net = Perceptron(physics.observation, *[self.width] * self.layers, physics.actions)
        return Distillation(
            seeds, net, self.local_steps, states, self.weighting(task), self.server_fits,
            self.learning_rate,
        )  # fmt: skip
