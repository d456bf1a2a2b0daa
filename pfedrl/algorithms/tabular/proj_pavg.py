"""ProjPAvg: the server averages policies (Jin et al. 2022, Section 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.tabular.averaging import TabularAveraging
from pfedrl.algorithms.tabular.step_size import Plateau, Theorem3
from pfedrl.envs.tabular.task import TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.tabular.learner import ProjectedPolicyLearner


class ProjPAvg(TabularAveraging):
    """Average action probabilities after E projected policy gradient steps in each environment."""

    label: ClassVar[str] = "ProjPAvg"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "ProjectedPolicyLearner":
        from pfedrl.algorithms.tabular.learner import ProjectedPolicyLearner

        if self.step_size == "theorem":
            # the smoothness of V^pi under direct parametrisation, for a seed's own range of rewards
            spread = task.reward.max(axis=0) - task.reward.min(axis=0).clip(max=0.0)
            smoothness = 2 * task.gamma * task.actions * spread / (1 - task.gamma) ** 3
            step_size = Theorem3(len(seeds), smoothness, int(self.local_steps))
            return ProjectedPolicyLearner(task, seeds, step_size)
        plateau = Plateau(self.learning_rate, self.decay, len(seeds))
        return ProjectedPolicyLearner(task, seeds, plateau)
