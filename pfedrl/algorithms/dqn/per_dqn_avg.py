"""PerDQNAvg: a private embedding tells the shared net where it is (Jin et al. 2022, Section 6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.deep.embedding import PrivateEmbedding
from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner


class PerDQNAvg(PrivateEmbedding, DeepValue):
    """The server averages all but a private embedding; a new environment trains only its own."""

    label: ClassVar[str] = "PerDQNAvg"
    parts: ClassVar[tuple[str, ...]] = ("body", "head", "embedding")
    shares: ClassVar[tuple[str, ...]] = ("body", "head")

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        return DQNLearner(task, seeds, self, embedding=self.embedding)
