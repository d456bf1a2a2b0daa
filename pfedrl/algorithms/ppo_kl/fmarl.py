"""FMARL: gradients that decay within a round (Xu et al. 2021; FedKL, Section V)."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.ppo_kl.federated_policy import FederatedPolicy
from pfedrl.algorithms.ppo_kl.settings import Pull


class FMARL(FederatedPolicy):
    """FedAvg, and the t-th step of a round is multiplied by lambda^(t/2)."""

    label: ClassVar[str] = "FMARL"

    decay: float = Field(0.9999, gt=0, le=1, description="lambda")
    count_tensors: bool = Field(
        True, description="t grows by one for every parameter tensor, as in the authors' code"
    )

    def pull(self) -> Pull:
        return Pull(decay=self.decay, decay_counts_tensors=self.count_tensors)
