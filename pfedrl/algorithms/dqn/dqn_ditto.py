"""Ditto on DQN: a personal net beside the global one, and near it (Li et al. 2021, 2012.04221)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.two_nets import TwoNets


class DQNDitto(DeepValue):
    """The server averages global nets. Agents act by personal nets, which learn from the same
    batches and are pulled towards the global net received last."""

    label: ClassVar[str] = "Ditto-DQN"
    shares: ClassVar[tuple[str, ...]] = ("global",)

    pull: float = Field(0.1, ge=0, description="lambda, weight of half the squared distance")

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "TwoNets":
        from pfedrl.algorithms.dqn.two_nets import TwoNets

        return TwoNets(task, seeds, self)
