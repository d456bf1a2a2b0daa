"""The ceiling of classic control: the best return known to be attainable."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.controls.fixed_beforehand import ClassicControl
from pfedrl.envs.classic.task import ControlTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_control import FixedControl


class BestFound(ClassicControl):
    """Control: balanced to the cap, or the fastest swing-up that a search finds."""

    label: ClassVar[str] = "Best found"

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "FixedControl":
        from pfedrl.algorithms.controls.fixed_control import FixedControl

        return FixedControl(task, seeds, optimal=True)
