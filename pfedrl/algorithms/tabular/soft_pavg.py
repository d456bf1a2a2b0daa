"""SoftPAvg: the server averages logits (Jin et al. 2022, Section 7.1)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pfedrl.algorithms.tabular.averaging import TabularAveraging
from pfedrl.algorithms.tabular.step_size import Plateau
from pfedrl.envs.tabular.task import TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.tabular.learner import SoftmaxPolicyLearner


class SoftPAvg(TabularAveraging):
    """Average softmax logits after E natural policy gradient steps in each environment."""

    label: ClassVar[str] = "SoftPAvg"

    step_size: Literal["plateau"] = Field(
        "plateau", description="the authors' code's rule; no theorem covers softmax policies"
    )

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "SoftmaxPolicyLearner":
        from pfedrl.algorithms.tabular.learner import SoftmaxPolicyLearner

        plateau = Plateau(self.learning_rate, self.decay, len(seeds))
        return SoftmaxPolicyLearner(task, seeds, plateau)
