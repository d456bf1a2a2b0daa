"""FedAvg for policies: PPO-KL with the local penalty alone (FedKL, Section V)."""

from typing import ClassVar

from pfedrl.algorithms.base import Style
from pfedrl.algorithms.federated_policy import FederatedPolicy
from pfedrl.learners.ppo_kl_settings import Pull


class FedAvg(FederatedPolicy):
    """Average policies and critics after I iterations of PPO-KL; nothing holds them together."""

    label: ClassVar[str] = "FedAvg"
    style: ClassVar[Style] = Style("#E69F00", "--", "s")

    def pull(self) -> Pull:
        return Pull()
