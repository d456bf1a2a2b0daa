"""The floor: actions without aim."""

from typing import ClassVar

from pfedrl.algorithms.controls.action_controls import UniformActions


class RandomAction(UniformActions):
    """Control: actions uniform in their range."""

    label: ClassVar[str] = "Random actions"
    spread: ClassVar[float] = 1.0
