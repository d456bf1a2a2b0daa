"""TD: every agent for itself (the PFedRL-Rep paper's first baseline, Section 4.3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.td.prediction import Prediction
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange, never

if TYPE_CHECKING:
    from pfedrl.algorithms.td.learner import TableTD


class TD(Prediction):
    """Tabular TD(0) without communication."""

    label: ClassVar[str] = "TD"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "TableTD":
        from pfedrl.algorithms.td.learner import TableTD

        return TableTD(task, seeds, self.local_steps, self.weight_steps())

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return never()
