"""What the deep value algorithms share: DQN agents, and what becomes of the result elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.algorithms.dqn import metrics
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.core.recorder import Recorder
from pfedrl.envs.classic.task import ControlFamily, ControlTask
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.loop import Control, recorded_rounds, train
from pfedrl.stack.mixing import ServerAverage

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner
    from pfedrl.stack.distillation import Distillation, Weighting


class Adaptation(NamedTuple):
    """How a new environment is met: what starts anew, and what is trained ("all", a part, "")."""

    fresh: tuple[str, ...]
    trains: str


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

    def exchange(self) -> Exchange:
        return Exchange(self.shares, ServerAverage(), self.local_steps)

    def meeting(self, learner: "DQNLearner") -> Any:
        """The exchange of these very learners; only distillation needs to know their nets."""
        return self.exchange()

    def rounds(self, cap: int | None = None) -> int:
        """An upper bound where local steps are steps in the environment: the learner ends."""
        if self.unit == "episode":
            return -(-self.episodes // self.local_steps) + 1
        assert cap is not None, "steps in the environment are bounded by the family's cap only"
        return -(-self.episodes * cap // self.local_steps) + 1

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
        learner = self.learner(family.task(draws), seeds)
        control = self.watching(learner, control)
        cap = learner.task.physics.cap
        train(learner, self.meeting(learner), self.rounds(cap), recorder, control)
        if not self.adapt_episodes or not learner.task.held_out.shape[1]:
            return
        settings = self.adapting()
        for name, (fresh, trains) in self.adaptations().items():
            newcomers = learner.newcomers(settings, (trains,), fresh)
            kept = Recorder(seeds)
            points = self.adapt_evaluations or 0
            # independent: newcomers of a seed share nothing
            alone = Exchange((), ServerAverage(), settings.local_steps)
            watched = settings.watching(newcomers, Control(points))
            train(newcomers, alone, settings.rounds(cap), kept, watched)
            for measured in kept.state():
                recorder.add(*measured._replace(metric=f"{name}_{measured.metric}"))

    def watching(self, learner: "DQNLearner", control: Control) -> Control:
        """Marks of the curve and progress, both counted in episodes.

        Where there is a curve the learner is asked after every round: it knows who is at a mark.
        """
        step = self.local_steps if self.unit == "episode" else 1
        looks = recorded_rounds(-(-self.episodes // step) + 1, control.curve_points)
        learner.marks = np.minimum(np.array(sorted(looks)) * step, self.episodes)
        return replace(
            control,
            curve_points=self.rounds(learner.task.physics.cap) if control.curve_points else 0,
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

    def distillation(self, learner: "DQNLearner", weighting: "Weighting") -> "Distillation":
        from pfedrl.stack.distillation import Distillation

        return Distillation(
            learner, self.local_steps, weighting, self.server_states, self.server_fits,
            self.learning_rate,
        )  # fmt: skip
