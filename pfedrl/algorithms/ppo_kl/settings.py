"""The numbers of PPO-KL, without importing what it computes with."""

from dataclasses import dataclass

from pydantic import Field

from pfedrl.core.settings import Settings


class PPOKLSettings(Settings):
    """Local training as in the FedKL authors' code (Sections IV and V.A.3 of the paper)."""

    learning_rate: float = Field(gt=0, description="of the policy's plain SGD")
    d_local: float = Field(gt=0, description="target KL between an iteration's policies")
    c2_start: float = Field(1.0, ge=0, description="weight of the local penalty at the start")
    policy_hidden: tuple[int, ...] = Field((64, 64), description="hidden layers, tanh")
    critic_hidden: tuple[int, ...] = Field((64, 64), description="hidden layers, tanh")
    policy_epochs: int = Field(10, gt=0, description="E, passes of the policy over a batch")
    policy_batch: int = Field(64, gt=0, description="minibatch of the policy")
    critic_epochs: int = Field(30, gt=0, description="passes of the critic over two batches")
    critic_batch: int = Field(128, gt=0, description="minibatch of the critic")
    critic_rate: float = Field(3e-4, gt=0, description="of the critic's Adam")
    critic_l2: float = Field(1e-3, ge=0, description="L2 penalty on the critic's hidden kernels")
    discount: float = Field(0.99, gt=0, lt=1, description="gamma")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="lambda of GAE")


@dataclass(frozen=True)
class Pull:
    """What keeps a local policy near the global one; by default nothing does (FedAvg)."""

    c1_start: float = 0.0  # weight of the distance to the global policy: FedKL
    d_global: float = float("inf")  # the distance's target
    share: float = 1.0  # the distance is sqrt(share * KL): 1 in the code, 1/2 in the paper
    proximal: float = 0.0  # times (theta - anchor), added to the gradient: FedProx
    decay: float = 1.0  # step t of a round is multiplied by decay^(t/2): FMARL
    decay_counts_tensors: bool = False  # t grows by one a tensor, not by one a step
