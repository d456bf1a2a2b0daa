"""The score of doing nothing."""

from typing import TYPE_CHECKING, Any, ClassVar

from pfedrl.algorithms.controls.action_controls import ActionControl

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_action import MakeAct


class ZeroAction(ActionControl):
    """Control: every action zero; on Reacher that is not bad, for actions cost."""

    label: ClassVar[str] = "Zero action"

    def make_act(self, task: Any) -> "MakeAct":
        from pfedrl.algorithms.controls.fixed_action import uniform

        return uniform(task, 0.0)
