"""PFedQ-Rep: shared features, personal weights, by Q-learning (Xiong et al. 2025, Algorithm 3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.base import Style
from pfedrl.algorithms.pfedtd_rep import PFedTDRep
from pfedrl.envs.tabular import TabularTask
from pfedrl.learners.schedules import PowerLaw

if TYPE_CHECKING:
    from pfedrl.learners.sampled_q import RepresentationQ


class PFedQRep(PFedTDRep):
    """As PFedTD-Rep for control: features of state-action pairs, under a random sampling policy."""

    label: ClassVar[str] = "PFedQ-Rep"
    style: ClassVar[Style] = Style("#CC79A7", "-", "D")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "RepresentationQ":  # type: ignore[override]
        from pfedrl.learners.sampled_q import RepresentationQ

        return RepresentationQ(
            task, seeds, self.local_steps, self.dimension, self.weight_steps(),
            PowerLaw(self.beta, self.beta_power), self.bound,
        )  # fmt: skip
