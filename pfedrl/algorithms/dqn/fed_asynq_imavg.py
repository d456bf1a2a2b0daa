"""FedAsynQ-ImAvg with nets: agents weigh more where they have been (Woo, Joshi and Chi 2023)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.dqn.deep_value import DistilledValue
from pfedrl.envs.classic.task import ControlTask

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

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "VisitingDQN":
        from pfedrl.algorithms.dqn.visits import VisitingDQN, observation_grid

        return VisitingDQN(task, seeds, self, observation_grid(task.physics, self.bins))

    def weighting(self, task: ControlTask) -> "Weighting":
        from pfedrl.algorithms.dqn.visits import observation_grid
        from pfedrl.stack.distillation import ByCellVisits

        return ByCellVisits(self.visit_rate, observation_grid(task.physics, self.bins))
