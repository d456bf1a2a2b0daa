"""LFRL: the server distils the agents' nets by their confidence (Liu, Wang and Liu 2019)."""

from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.algorithm import Style
from pfedrl.algorithms.dqn.deep_value import DistilledValue

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner
    from pfedrl.stack.distillation import Distillation


class LFRL(DistilledValue):
    """The server labels its own states with the agents' nets, the surer ones weighing more."""

    label: ClassVar[str] = "LFRL"
    style: ClassVar[Style] = Style("#44AA99", "--", "v")

    def meeting(self, learner: "DQNLearner") -> "Distillation":
        from pfedrl.stack.distillation import by_confidence

        return self.distillation(learner, by_confidence)
