"""What the deep value algorithms share: DQN agents, and what becomes of the result elsewhere."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.deep.algorithm import DeepAlgorithm
from pfedrl.algorithms.dqn import metrics
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.discrete import DiscreteTask, discretised
from pfedrl.envs.family import Family
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.loop import Control, recorded_rounds

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner
    from pfedrl.stack.distillation import Weighting


class DeepValue(DeepAlgorithm, DeepSettings):
    """DQN agents in rounds of local steps, then in the new environments."""

    kinds: ClassVar[frozenset[str]] = frozenset({"classic_control"})
    continuous_too: ClassVar[frozenset[str]] = kinds | {"locomotion"}  # actions on a grid
    parts: ClassVar[tuple[str, ...]] = ("body", "head")  # of an agent's net
    private_heads: ClassVar[bool] = False  # by which agents are compared
    later: ClassVar[frozenset[str]] = frozenset(
        {"frames", "adapt_frames", "levels", "targets_before_exchange"}
    )

    levels: int = Field(
        3, gt=1, description="values of each number of an action, where actions are continuous"
    )
    adapt_epsilon: float | None = Field(
        None, description="epsilon in the new environments, where it differs"
    )
    adapt_batch: int | None = Field(None, description="the batch there, where it differs")

    def skip(self, family: Family) -> str | None:
        if family.kind == "locomotion" and not self.frames:
            return f"{self.label} needs a number of frames where actions are continuous"
        return super().skip(family)

    def seen(self, task: Any) -> DiscreteTask:
        return discretised(task, self.levels)

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        return DQNLearner(task, seeds, self)

    def rounds(self) -> int | None:
        """The learner counts episodes; in rounds of steps there is no saying how many they take."""
        return -(-self.episodes // self.local_steps) + 1 if self.unit == "episode" else None

    def metrics(self, family: Any) -> set[str]:
        agree = set(self.parts) == set(self.shares)
        found = metrics.of_each_agent(self, family) | metrics.of_all(self, family, agree)
        if self.adapts and family.newcomers:
            anew = metrics.of_each_agent(self.adapting(), family)
            found |= {f"{way}_{metric}" for way in self.adaptations() for metric in anew}
        return found

    @property
    def adapts(self) -> bool:
        return self.adapt_episodes + self.adapt_frames > 0

    def watching(self, learner: "DQNLearner", control: Control) -> Control:
        """Marks of the curve and progress, both counted in episodes, or in frames.

        The learner is asked after every round: it knows who is at a mark.
        """
        length = self.frames or self.episodes
        step = self.local_steps if self.unit == "episode" or self.frames else 1
        looks = recorded_rounds(-(-length // step) + 1, control.curve_points)
        learner.marks = np.minimum(np.array(sorted(looks)) * step, length)
        return replace(
            control,
            curve_points=self.rounds() or 0,
            progress=lambda *_: control.progress(int(learner.done().min()), length),
        )

    def adapting(self) -> "DeepValue":
        """The settings in the new environments."""
        changes = {"epsilon": self.adapt_epsilon, "batch": self.adapt_batch}
        given = {key: value for key, value in changes.items() if value is not None}
        # evaluated after every episode where evaluations are asked for (QAvg's Figure 6)
        each = {"local_steps": 1, "fresh_rounds": False} if self.adapt_evaluations else {}
        length = {"episodes": self.adapt_episodes, "frames": self.adapt_frames}
        return self.model_copy(update={**length, **given, **each})


class DistilledValue(DeepValue):
    """DQN agents that receive a net which the server fitted to all of theirs."""

    kinds: ClassVar[frozenset[str]] = DeepValue.continuous_too
    shares: ClassVar[tuple[str, ...]] = ()  # weights are not mixed, values are

    server_states: int = Field(256, gt=0, description="states that the server draws an exchange")
    server_fits: int = Field(100, gt=0, description="its Adam steps on their labels")

    @abstractmethod
    def weighting(self, task: DiscreteTask) -> "Weighting":
        """Whose values count how much."""

    def exchange(self, task: DiscreteTask, seeds: Sequence[int]) -> Exchange:
        from pfedrl.stack.distillation import Distillation
        from pfedrl.stack.nets import Perceptron

        environments = task.environments()
        hidden = [self.width] * self.layers
        net = Perceptron(environments.observation_size, *hidden, environments.action_space.count)

        def states(generators: Sequence[np.random.Generator]) -> np.ndarray:
            return task.observations(generators, self.server_states)

        return Distillation(
            seeds, net, self.local_steps, states, self.weighting(task), self.server_fits,
            self.learning_rate,
        )  # fmt: skip
