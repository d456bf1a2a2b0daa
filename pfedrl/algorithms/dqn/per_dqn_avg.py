"""PerDQNAvg: a private embedding tells the shared net where it is (Jin et al. 2022, Section 6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.envs.classic.task import ControlTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner


class PerDQNAvg(DeepValue):
    """The server averages all but a private embedding; a new environment trains only its own."""

    label: ClassVar[str] = "PerDQNAvg"
    parts: ClassVar[tuple[str, ...]] = ("body", "head", "embedding")
    shares: ClassVar[tuple[str, ...]] = ("body", "head")

    embedding: int = Field(4, gt=0, description="numbers in the embedding: ceil(log2 N) of N = 10")
    new_embedding: Literal["average", "random"] = Field(
        "average", description="where a new embedding starts: the paper's average, or as the code"
    )
    every_way: bool = Field(
        False, description="meet new environments in all ways of QAvg's Figure 6, not one"
    )

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        return DQNLearner(task, seeds, self, embedding=self.embedding)

    def adaptations(self) -> dict[str, Adaptation]:
        fresh = ("embedding",) if self.new_embedding == "random" else ()
        ways = {"adapt": Adaptation(fresh, "embedding")}  # E-Update
        if self.every_way:
            ways["adapt_all"] = Adaptation(fresh, "all")  # E&N-Update
            ways["adapt_net"] = Adaptation(fresh, "net")
            ways["adapt_nothing"] = Adaptation(fresh, "nothing")  # Phi-Update
        return ways
