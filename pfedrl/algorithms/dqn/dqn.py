"""DQN: agents that learn alone (Mnih et al. 2015); the baseline of both papers."""

from typing import ClassVar

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.dqn.deep_value import DeepValue


class DQN(DeepValue):
    """Independent DQN: nothing is shared; a new environment is learnt from scratch."""

    label: ClassVar[str] = "DQN"
    shares: ClassVar[tuple[str, ...]] = ()

    def adaptations(self) -> dict[str, Adaptation]:
        return {"adapt": Adaptation(("body", "head"), "all")}
