"""PFedTD-Rep: shared features, personal weights, by TD (Xiong et al. 2025, Algorithm 2)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.td.prediction import Prediction
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange, server_average

if TYPE_CHECKING:
    from pfedrl.algorithms.td.learner import RepresentationTD


class PFedTDRep(Prediction):
    """K steps of an agent's own weights, then one of the features, which the server averages."""

    label: ClassVar[str] = "PFedTD-Rep"

    dimension: int = Field(6, gt=0, description="d, length of a state's features")
    beta: float = Field(gt=0, description="beta_0 of beta_t = beta_0 / (t+2)^beta_power")
    beta_power: float = Field(ge=0, description="1 in the proof, 5/6 as Theorem 4.13 prints it")
    bound: float = Field(20.0, gt=0, description="B, the largest norm of an agent's weights")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "RepresentationTD":
        from pfedrl.algorithms.td.learner import RepresentationTD

        features = PowerLaw(self.beta, self.beta_power)
        return RepresentationTD(
            task, seeds, self.local_steps, self.dimension, self.weight_steps(), features,
            self.bound,
        )  # fmt: skip

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return server_average(every=1, shares=("features",))
