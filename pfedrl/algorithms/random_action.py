"""The floor: actions without aim."""

from typing import ClassVar

from pfedrl.algorithms.action_controls import UniformActions
from pfedrl.algorithms.base import Style


class RandomAction(UniformActions):
    """Control: actions uniform in their range."""

    label: ClassVar[str] = "Random actions"
    style: ClassVar[Style] = Style("#999999", "--", "|")
    spread: ClassVar[float] = 1.0
