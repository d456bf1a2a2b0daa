"""The floor of every family: actions without aim."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from pfedrl.algorithms.controls.fixed_beforehand import FixedBeforehand, stepped_metrics
from pfedrl.envs.classic.task import ControlTask
from pfedrl.envs.mujoco.walkers import WalkerTask
from pfedrl.envs.tabular.task import TabularTask

if TYPE_CHECKING:
    from pfedrl.stack.learner import Learner


class RandomPolicy(FixedBeforehand):
    """Control: the uniformly random policy."""

    label: ClassVar[str] = "Random policy"
    kinds: ClassVar[frozenset[str]] = frozenset(
        {"tabular", "classic_control", "continuous", "locomotion"}
    )

    evaluation_episodes: int = Field(
        30, gt=0, description="episodes of each agent, where there is no exact value"
    )

    def metrics(self, family: Any) -> set[str]:
        if family.kind == "tabular":
            return family.places()
        if family.kind in ("classic_control", "locomotion"):
            return stepped_metrics(family) | {"return_variance", "return_deviation"}
        return {"return"} | family.records()

    def learner(self, task: Any, seeds: Sequence[int]) -> "Learner":
        if isinstance(task, TabularTask):
            from pfedrl.algorithms.controls.fixed_tabular import FixedPolicy

            return FixedPolicy(task, optimal=False)
        if isinstance(task, ControlTask | WalkerTask):
            from pfedrl.algorithms.controls.fixed_control import FixedControl

            return FixedControl(task, seeds, self.evaluation_episodes)
        from pfedrl.algorithms.controls.fixed_action import FixedAction, uniform

        return FixedAction(task, seeds, uniform(task, 1.0), self.evaluation_episodes)
