"""CartPoles: poles of different length on a cart (QAvg, Section 13.1; PFedRL-Rep, Section 5)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.classic.task import ControlFamily, Physics

LENGTH, MASS = 0.5, 0.1  # gymnasium's pole: half-length and mass


class CartPole(ControlFamily):
    """Balance a pole on a cart; members differ in the pole's half-length."""

    label: ClassVar[str] = "CartPoles"
    varies: ClassVar[str] = "half-length of the pole (gymnasium's `length`, 0.5 by default)"
    rewards_steps: ClassVar[bool] = True

    mass_follows: bool = Field(
        False, description="the pole's mass grows with its length, as the QAvg paper's text says"
    )

    def parameters(self, number: np.ndarray) -> np.ndarray:
        mass = MASS * number / LENGTH if self.mass_follows else np.full_like(number, MASS)
        return np.stack([number, mass], axis=-1)

    def physics(self) -> Physics:
        from pfedrl.envs.classic.physics import observe_cartpole, step_cartpole

        return Physics(
            step=step_cartpole,
            observe=observe_cartpole,
            observation=4,
            actions=2,
            start=0.05,
            cap=self.cap,
            box=np.array([2.4, 3.0, 12 * 2 * np.pi / 360, 3.5]),
            best=lambda parameters, start: float(self.cap),  # balanced to the end
        )
