"""FedAsynQ-ImAvg with nets: agents weigh more where they have been (Woo, Joshi and Chi 2023)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.dqn.deep_value import DistilledValue
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.visits import VisitingDQN
    from pfedrl.stack.distillation import Weighting


class FedAsynQImAvgNet(DistilledValue):
    """The server distils the agents' nets, weighing each by its recent visits to a state-action."""

    label: ClassVar[str] = "FedAsynQ-ImAvg"

    visit_rate: float = Field(
        0.1, gt=0, lt=1, description="eta in the importance weight (1 - eta)^(-visits)"
    )
    bins: int = Field(4, gt=1, description="cells of the visit count, each observation coordinate")

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "VisitingDQN":
        from pfedrl.algorithms.dqn.visits import VisitingDQN
        from pfedrl.stack.distillation import Grid

        return VisitingDQN(task, seeds, self, Grid(task.observation_limit(), self.bins))

    def weighting(self, task: DiscreteTask) -> "Weighting":
        from pfedrl.stack.distillation import ByCellVisits, Grid

        return ByCellVisits(self.visit_rate, Grid(task.observation_limit(), self.bins))
