"""DDPG: agents that learn alone (Lillicrap et al. 2016); E = inf and Baseline of QAvg."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.ddpg.deterministic import DeterministicPolicies


class DDPG(DeterministicPolicies):
    """Independent DDPG: nothing is shared; a new environment is learnt from scratch."""

    label: ClassVar[str] = "DDPG"
    shares: ClassVar[tuple[str, ...]] = ()

    baseline: bool = Field(
        False, description="score every agent in every environment: QAvg's Baseline"
    )

    @property
    def pairs(self) -> bool:
        return self.baseline

    def adaptations(self) -> dict[str, Adaptation]:
        return {"adapt": Adaptation(("body", "head"), "all")}
