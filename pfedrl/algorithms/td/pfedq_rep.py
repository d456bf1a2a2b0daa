"""PFedQ-Rep: shared features, personal weights, by Q-learning (Xiong et al. 2025, Algorithm 3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.td.pfedtd_rep import PFedTDRep
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.envs.tabular.task import TabularFamily, TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.td.q_learner import RepresentationQ


class PFedQRep(PFedTDRep):
    """As PFedTD-Rep for control: features of state-action pairs, under a random sampling policy."""

    label: ClassVar[str] = "PFedQ-Rep"

    def metrics(self, family: TabularFamily) -> set[str]:
        return {"objective", "megabytes_sent"}

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "RepresentationQ":  # type: ignore[override]
        from pfedrl.algorithms.td.q_learner import RepresentationQ

        return RepresentationQ(
            task, seeds, self.local_steps, self.dimension, self.weight_steps(),
            PowerLaw(self.beta, self.beta_power), self.bound,
        )  # fmt: skip
