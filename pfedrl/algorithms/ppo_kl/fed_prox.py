"""FedProx for policies: a pull towards the global parameters (FedKL, Section V)."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.ppo_kl.federated_policy import FederatedPolicy
from pfedrl.algorithms.ppo_kl.settings import Pull


class FedProx(FederatedPolicy):
    """FedAvg, and the loss grows by mu/2 times the squared distance from the global parameters."""

    label: ClassVar[str] = "FedProx"

    mu: float = Field(ge=0, description="weight of the proximal term")
    extra_half: bool = Field(
        True, description="the authors' code halves the squared distance a second time"
    )

    def pull(self) -> Pull:
        return Pull(proximal=self.mu / 2 if self.extra_half else self.mu)
