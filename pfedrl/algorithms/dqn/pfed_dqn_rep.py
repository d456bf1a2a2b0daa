"""PFedDQN-Rep: a shared representation and private heads (Xiong et al. 2025, Algorithm 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.algorithms.dqn.metrics import similarities
from pfedrl.envs.classic.task import ControlFamily
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner


class PFedDQNRep(DeepValue):
    """K steps of the private heads, one of the representation, then the server averages that."""

    label: ClassVar[str] = "PFedDQN-Rep"
    shares: ClassVar[tuple[str, ...]] = ("body",)

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        # lines 5 to 11 update the head K times, lines 12 and 13 the representation once
        return DQNLearner(task, seeds, self, phases=("head", "body"))

    def metrics(self, family: ControlFamily) -> set[str]:
        return super().metrics(family) | similarities(family)

    def adaptations(self) -> dict[str, Adaptation]:
        """Freeze the representation and train a fresh head."""
        return {"adapt": Adaptation(("head",), "head")}
