"""The score of doing nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pfedrl.algorithms.controls.action_controls import ActionControl
from pfedrl.algorithms.controls.fixed_beforehand import stepped_metrics
from pfedrl.envs.mujoco.walkers import WalkerTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_action import MakeAct
    from pfedrl.stack.learner import Learner


class ZeroAction(ActionControl):
    """Control: every action zero; not bad where actions cost, or where standing is rewarded."""

    label: ClassVar[str] = "Zero action"
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "locomotion"})

    def metrics(self, family: Any) -> set[str]:
        if family.kind == "locomotion":
            return stepped_metrics(family) | {"return_variance", "return_deviation"}
        return super().metrics(family)

    def learner(self, task: Any, seeds: Sequence[int]) -> "Learner":
        if isinstance(task, WalkerTask):
            from pfedrl.algorithms.controls.fixed_control import FixedControl

            return FixedControl(task, seeds, self.evaluation_episodes, spread=0.0)
        return super().learner(task, seeds)

    def make_act(self, task: Any) -> "MakeAct":
        from pfedrl.algorithms.controls.fixed_action import uniform

        return uniform(task, 0.0)
