"""QAvg: the server averages Q tables (Jin et al. 2022, Section 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.tabular.averaging import TabularAveraging
from pfedrl.algorithms.tabular.step_size import Plateau, Theorem2
from pfedrl.envs.tabular.task import TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.tabular.learner import QLearner


class QAvg(TabularAveraging):
    """Average Q tables after E expected backups in each agent's own environment."""

    label: ClassVar[str] = "QAvg"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "QLearner":
        from pfedrl.algorithms.tabular.learner import QLearner

        if self.step_size == "theorem":
            step_size = Theorem2(len(seeds), task.gamma, int(self.local_steps))
            return QLearner(task, seeds, step_size, as_printed=True)
        plateau = Plateau(self.learning_rate, self.decay, len(seeds))
        return QLearner(task, seeds, plateau, as_printed=False)
