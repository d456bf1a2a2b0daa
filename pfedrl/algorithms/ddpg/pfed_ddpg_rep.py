"""PFedDDPG-Rep: shared representations, private heads (Xiong et al. 2025, Appendix G.1)."""

from typing import ClassVar

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.ddpg.deterministic import DeterministicPolicies


class PFedDDPGRep(DeterministicPolicies):
    """K steps of the private heads, one of the representations, then the server averages those."""

    label: ClassVar[str] = "PFedDDPG-Rep"
    shares: ClassVar[tuple[str, ...]] = ("*_body",)
    phases: ClassVar[tuple[str, ...]] = ("head", "body")  # as in Algorithm 4

    def adaptations(self) -> dict[str, Adaptation]:
        """Freeze the representations and train fresh heads."""
        return {"adapt": Adaptation(("head",), "head")}
