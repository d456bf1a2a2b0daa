"""LFRL: the server distils the agents' nets by their confidence (Liu, Wang and Liu 2019)."""

from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.dqn.deep_value import DistilledValue
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.stack.distillation import Weighting


class LFRL(DistilledValue):
    """The server labels its own states with the agents' nets, the surer ones weighing more."""

    label: ClassVar[str] = "LFRL"

    def weighting(self, task: DiscreteTask) -> "Weighting":
        from pfedrl.stack.distillation import by_confidence

        return by_confidence
