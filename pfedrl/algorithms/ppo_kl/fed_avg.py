"""FedAvg for policies: PPO-KL with the local penalty alone (FedKL, Section V)."""

from typing import ClassVar

from pfedrl.algorithms.ppo_kl.federated_policy import FederatedPolicy
from pfedrl.algorithms.ppo_kl.settings import Pull


class FedAvg(FederatedPolicy):
    """Average policies and critics after I iterations of PPO-KL; nothing holds them together."""

    label: ClassVar[str] = "FedAvg"

    def pull(self) -> Pull:
        return Pull()
