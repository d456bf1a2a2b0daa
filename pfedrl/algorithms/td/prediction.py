"""What the TD algorithms share: rounds of K local steps on chains of evaluation policies."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.envs.tabular.task import TabularFamily


class Prediction(Algorithm):
    """T rounds of K transitions; to the exchange a round's local work is one step."""

    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    training_rounds: int = Field(gt=0, description="T, rounds of local steps")
    local_steps: int = Field(gt=0, description="K, transitions of each agent a round")
    alpha: float = Field(gt=0, description="alpha_0 of alpha_t = alpha_0 / (t+2)^alpha_power")
    alpha_power: float = Field(ge=0, description="0 is constant")

    def metrics(self, family: TabularFamily) -> set[str]:
        return {
            "episodes", "negative_value", "negative_true_value", "root_mean_squared_error",
            "spread", "converged_at", "error_at_start", "megabytes_sent",
        }  # fmt: skip

    def weight_steps(self) -> PowerLaw:
        return PowerLaw(self.alpha, self.alpha_power)

    def rounds(self) -> int:
        """One look more than rounds of steps: the last look comes after all of them."""
        return self.training_rounds + 1
