"""The floor: every action equally likely."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.controls.fixed_beforehand import TabularControl
from pfedrl.envs.tabular.task import TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_tabular import FixedPolicy


class RandomPolicy(TabularControl):
    """Control: the uniformly random policy."""

    label: ClassVar[str] = "Random policy"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "FixedPolicy":
        from pfedrl.algorithms.controls.fixed_tabular import FixedPolicy

        return FixedPolicy(task, optimal=False)
