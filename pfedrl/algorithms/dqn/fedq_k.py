"""FedQ-K as nets: K online Q steps, then an average (Khodadadian et al. 2022, Algorithm 3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner


class FedQK(DeepValue):
    """Semi-gradient steps on each transition as it comes, no replay and no target net; averaged."""

    label: ClassVar[str] = "FedQ-K"
    kinds: ClassVar[frozenset[str]] = DeepValue.continuous_too
    shares: ClassVar[tuple[str, ...]] = ("body", "head")

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        return DQNLearner(task, seeds, self.online())

    def online(self) -> "FedQK":
        """A replay of one transition, and a target net copied at every step."""
        return self.model_copy(
            update={"buffer": 1, "batch": 1, "warm_up": 1, "target_every": 1, "adapt_batch": None}
        )

    def adapting(self) -> DeepValue:
        return super().adapting().model_copy(update=self.online().model_dump(
            include={"buffer", "batch", "warm_up", "target_every"}
        ))  # fmt: skip
