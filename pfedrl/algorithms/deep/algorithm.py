"""What algorithms with deep learners share: training together, then meeting new environments."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from pfedrl.algorithms.adaptation import Adaptation, adapt
from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.core.recorder import Recorder
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.exchange import Exchange, never, server_average
from pfedrl.stack.loop import Control, train


class DeepAlgorithm(Algorithm):
    """Deep agents in rounds of local steps, then in the new environments."""

    shares: ClassVar[tuple[str, ...]]  # the parts that the server averages, as patterns

    local_steps: int = Field(gt=0, description="E or K, local steps between exchanges")
    adapt_evaluations: int | None = Field(
        None, description="greedy evaluations on the way there; none: at the end"
    )

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        if not self.shares:
            return never(self.local_steps)
        return server_average(self.local_steps, self.shares)

    @property
    @abstractmethod
    def adapts(self) -> bool:
        """Whether agents are sent to new environments, where there are any."""

    @abstractmethod
    def adapting(self) -> "DeepAlgorithm":
        """The settings in the new environments."""

    def adaptations(self) -> dict[str, Adaptation]:
        """Ways of meeting a new environment, by the name their metrics start with."""
        return {"adapt": Adaptation((), "all")}

    def watching(self, learner: Any, control: Control) -> Control:
        """How training is watched."""
        return control

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
        task = self.seen(family.task(draws))
        learner, exchange = (
            self.learner(task, seeds), family.attacked(self.exchange(task, seeds), seeds)
        )  # fmt: skip
        train(learner, exchange, self.rounds(), recorder, self.watching(learner, control))
        if self.adapts and task.held_out.shape[1]:
            points = self.adapt_evaluations or 0
            adapt(learner, self.adapting(), self.adaptations(), points, seeds, recorder)  # type: ignore[arg-type]

    def seen(self, task: Any) -> Any:
        """The task as these agents see it."""
        return task
