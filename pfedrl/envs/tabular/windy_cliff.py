"""WindyCliffs: a small grid with a cliff, a goal and wind from the north (QAvg, Section 13.1)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.family import Draws
from pfedrl.envs.tabular.task import TabularFamily, TabularTask, drawn, seed_first

MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0))  # up, down, left, right as (x, y)
DOWN = 1


class WindyCliff(TabularFamily):
    """Cliff walking under wind: any action but 'down' becomes 'down' with probability theta/3."""

    label: ClassVar[str] = "WindyCliffs"
    varies: ClassVar[str] = "theta, the wind's intensity: U(0, 1)"

    width: int = Field(4, gt=2, description="columns; the bottom row is start, cliff, goal")
    height: int = Field(4, gt=1, description="rows")
    centre_theta: float = Field(0.5, ge=0, le=1, description="the wind of the centre P_0")

    @property
    def states(self) -> int:
        return self.width * self.height

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The wind of every member but the centre."""
        return {"theta": seed_first(np.concatenate(
            self.uniforms(seeds, [1] * self.noise_members())
        ))}  # fmt: skip

    def target(self, state: int, action: int) -> int:
        """Where a step leads without wind; cliff and goal lead to the start, walls mean stay."""
        if 1 <= state < self.width:  # the bottom row beyond the start
            return 0
        x, y = state % self.width + MOVES[action][0], state // self.width + MOVES[action][1]
        inside = 0 <= x < self.width and 0 <= y < self.height
        return y * self.width + x if inside else state

    def successors(self) -> np.ndarray:
        """Two moves an action: where it is meant to lead, and where 'down' leads."""
        actions = range(len(MOVES))
        return np.array(
            [(self.target(s, a), self.target(s, DOWN)) for s in range(self.states) for a in actions]
        )

    def rewards(self) -> np.ndarray:
        """R by the current state: the cliff -100, the goal +100, everything else -1."""
        reward = np.full((self.states, len(MOVES)), -1.0)
        reward[1 : self.width - 1] = -100.0
        reward[self.width - 1] = 100.0
        return reward.reshape(-1)

    def moves(self, theta: np.ndarray) -> np.ndarray:
        """P(j|s,a) [member, row, seed] of winds theta [member, seed]."""
        blown = np.zeros((len(theta), self.states, len(MOVES), theta.shape[1]))
        blown[:] = theta[:, None, None] / 3.0
        blown[:, :, DOWN] = 0.0
        return np.stack([1.0 - blown, blown], axis=3).reshape(len(theta), -1, theta.shape[1])

    def task(self, draws: Draws) -> TabularTask:
        theta = drawn(draws, "theta")
        seeds = theta.shape[1]
        centre = self.moves(np.full((1, seeds), self.centre_theta)) if self.around_centre else None
        start = np.zeros(self.states)
        start[0] = 1.0
        return TabularTask(
            members=self.populate(centre, self.moves(theta)),
            states=self.states,
            actions=len(MOVES),
            gamma=self.gamma,
            successors=self.successors(),
            reward=np.repeat(self.rewards()[:, None], seeds, axis=1),
            start=start,
            score_shift=self.score_shift,
            score_scale=self.score_scale,
        )
