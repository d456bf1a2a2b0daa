"""The ceiling on Reacher: a controller that knows the arm and each client's offset."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pfedrl.algorithms.controls.action_controls import ActionControl
from pfedrl.envs.experience import Act
from pfedrl.envs.family import Family
from pfedrl.envs.mujoco.reacher import Reacher, ReacherTask, towards_target

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_action import MakeAct


class ReachingController(ActionControl):
    """Control: inverse kinematics by hand, for a ceiling; it knows the arm and the offsets."""

    label: ClassVar[str] = "Hand-made controller"

    def skip(self, family: Family) -> str | None:
        if isinstance(family, Reacher):
            return None
        return f"{self.label} knows how to move Reacher's arm and nothing else"

    def make_act(self, task: ReacherTask) -> "MakeAct":
        def make(
            seed: np.ndarray, agent: np.ndarray, generators: Sequence[np.random.Generator]
        ) -> Act:
            offset = task.offset[seed, agent][:, None]

            def act(
                observations: np.ndarray, acting: np.ndarray | None = None
            ) -> tuple[np.ndarray, np.ndarray]:
                return observations, towards_target(observations) - offset

            return act

        return make
