"""The floor: every action equally likely."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.base import Style
from pfedrl.algorithms.controls import TabularControl
from pfedrl.envs.tabular import TabularTask

if TYPE_CHECKING:
    from pfedrl.learners.fixed import FixedPolicy


class RandomPolicy(TabularControl):
    """Control: the uniformly random policy."""

    label: ClassVar[str] = "Random policy"
    style: ClassVar[Style] = Style("#999999", ":", "x")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "FixedPolicy":
        from pfedrl.learners.fixed import FixedPolicy

        return FixedPolicy(task, optimal=False)
