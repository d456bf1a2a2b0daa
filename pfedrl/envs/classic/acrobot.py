"""Acrobots: two-link arms that swing up (QAvg, Section 13.1; PFedRL-Rep, Appendix G)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.classic.task import ControlFamily, Physics

CELLS = 70  # of the search's grid; 100 finds swings that are a step shorter


class Acrobot(ControlFamily):
    """Swing the tip above a line; members differ by delta in the first link's length or mass."""

    label: ClassVar[str] = "Acrobots"
    varies: ClassVar[str] = "delta: the first link's length and mass are 1 + delta"
    rewards_steps: ClassVar[bool] = False

    length_varies: bool = Field(True, description="l1 = 1 + delta; else 1")
    mass_varies: bool = Field(True, description="m1 = 1 + delta; else 1")
    centre_follows: bool = Field(
        True, description="link 1's centre of mass is at l1/2; else where gymnasium has it, at 0.5"
    )

    def parameters(self, number: np.ndarray) -> np.ndarray:
        one = np.ones_like(number)
        length = 1 + number if self.length_varies else one
        mass = 1 + number if self.mass_varies else one
        centre = length / 2 if self.centre_follows else one / 2
        return np.stack([length, mass, centre], axis=-1)

    def physics(self) -> Physics:
        from pfedrl.envs.classic.physics import fastest_swing_up, observe_acrobot, step_acrobot

        def best(parameters: np.ndarray, start: np.ndarray) -> float:
            """The step that reaches the goal costs nothing."""
            return 1.0 - fastest_swing_up(start, parameters, CELLS, self.cap)

        return Physics(
            step=step_acrobot,
            observe=observe_acrobot,
            observation=6,
            actions=3,
            start=0.1,
            cap=self.cap,
            box=np.array([np.pi, np.pi, 2 * np.pi, 3 * np.pi]),
            best=best,
        )
