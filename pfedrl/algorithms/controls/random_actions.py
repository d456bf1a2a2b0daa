"""The floor of classic control: every action equally likely."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.controls.fixed_beforehand import ClassicControl
from pfedrl.envs.classic.task import ControlFamily, ControlTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_control import FixedControl


class RandomActions(ClassicControl):
    """Control: the uniformly random policy."""

    label: ClassVar[str] = "Random actions"

    def metrics(self, family: ControlFamily) -> set[str]:
        return super().metrics(family) | {"return_variance", "return_deviation"}

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "FixedControl":
        from pfedrl.algorithms.controls.fixed_control import FixedControl

        return FixedControl(task, seeds, optimal=False)
