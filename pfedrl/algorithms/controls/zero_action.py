"""The score of doing nothing."""

from typing import ClassVar

from pfedrl.algorithms.controls.action_controls import UniformActions


class ZeroAction(UniformActions):
    """Control: every action zero; on Reacher that is not bad, for actions cost."""

    label: ClassVar[str] = "Zero action"
    spread: ClassVar[float] = 0.0
