"""SoftPAvg: the server averages logits (Jin et al. 2022, Section 7.1)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pfedrl.algorithms.base import Style
from pfedrl.algorithms.tabular import TabularAveraging
from pfedrl.envs.tabular import TabularTask
from pfedrl.learners.step_size import Plateau

if TYPE_CHECKING:
    from pfedrl.learners.tabular import SoftmaxPolicyLearner


class SoftPAvg(TabularAveraging):
    """Average softmax logits after E natural policy gradient steps in each environment."""

    label: ClassVar[str] = "SoftPAvg"
    style: ClassVar[Style] = Style("#D55E00", "--", "s")

    step_size: Literal["plateau"] = Field(
        "plateau", description="the authors' code's rule; no theorem covers softmax policies"
    )

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "SoftmaxPolicyLearner":
        from pfedrl.learners.tabular import SoftmaxPolicyLearner

        plateau = Plateau(self.learning_rate, self.decay, len(seeds))
        return SoftmaxPolicyLearner(task, seeds, plateau)
