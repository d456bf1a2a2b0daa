"""FedKL: a pull towards the global policy in the space of distributions (Algorithm 2)."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.ppo_kl.federated_policy import FederatedPolicy
from pfedrl.algorithms.ppo_kl.settings import Pull


class FedKL(FederatedPolicy):
    """FedAvg, and the loss grows by c1 times the root of KL(global || local), c1 adapting."""

    label: ClassVar[str] = "FedKL"

    d_global: float = Field(gt=0, description="target distance from the global policy")
    c1_start: float = Field(1e-4, gt=0, description="c1 at the start, and its floor")
    half_kl: bool = Field(
        False, description="the distance is sqrt(KL/2), as in the paper; else sqrt(KL), the code's"
    )

    def pull(self) -> Pull:
        return Pull(self.c1_start, self.d_global, 0.5 if self.half_kl else 1.0)
