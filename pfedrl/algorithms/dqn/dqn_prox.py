"""FedProx on DQN: gradients pull towards the net received last (Li et al. 2020, 1812.06127)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.proximal import ProximalDQN


class DQNProx(DQNAvg):
    """DQNAvg, and the loss grows by mu/2 times the squared distance from the net received last."""

    label: ClassVar[str] = "FedProx-DQN"

    mu: float = Field(0.01, ge=0, description="weight of the proximal term; 0: DQNAvg")

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "ProximalDQN":
        from pfedrl.algorithms.dqn.proximal import ProximalDQN

        return ProximalDQN(task, seeds, self)
