"""FedAsynQ-ImAvg with nets: agents weigh more where they have been (Woo, Joshi and Chi 2023)."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.algorithm import Style
from pfedrl.algorithms.dqn.deep_value import DistilledValue

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner
    from pfedrl.stack.distillation import Distillation


class FedAsynQImAvgNet(DistilledValue):
    """The server distils the agents' nets, weighing each by its recent visits to a state-action."""

    label: ClassVar[str] = "FedAsynQ-ImAvg"
    style: ClassVar[Style] = Style("#332288", "-.", "P")

    visit_rate: float = Field(
        0.1, gt=0, lt=1, description="eta in the importance weight (1 - eta)^(-visits)"
    )
    bins: int = Field(4, gt=1, description="cells of the visit count, each observation coordinate")

    def meeting(self, learner: "DQNLearner") -> "Distillation":
        from pfedrl.stack.distillation import ByVisits

        visits = ByVisits(learner, self.local_steps, self.visit_rate, self.bins)
        return self.distillation(learner, visits)
