"""RandomMDPs: random transitions and rewards (QAvg, Sections 7.1 and 13.1)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.family import Draws
from pfedrl.envs.tabular.task import TabularFamily, TabularTask, drawn, seed_first


class RandomMDP(TabularFamily):
    """Random MDPs that share a reward table and differ in their transitions."""

    label: ClassVar[str] = "RandomMDPs"
    varies: ClassVar[str] = "P(s'|s,a): uniform numbers on random supports"

    states: int = Field(5, gt=1)
    actions: int = Field(5, gt=1)
    support: float = Field(
        gt=0, lt=1, description="chance that a successor is possible, for independent members"
    )

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The rewards, the centre if there is one, and the other members' transitions.

        Around a centre, one Bernoulli(1/2) mask gives the centre its successors and every other
        member the complement, so that noise never looks like the centre.
        """
        rows, full = self.states * self.actions, self.states**2 * self.actions
        members = self.noise_members()
        shared, *own = self.uniforms(seeds, [2 * rows + 2 * full, *[rows + 2 * full] * members])
        reward, repair, mask, weight = np.split(shared, np.cumsum([rows, rows, full]))
        draws = {"reward": seed_first(reward)}
        if self.around_centre:
            allowed = self._mask(mask, repair, 0.5, also_not_full=True)
            draws["centre"] = seed_first(self._normalise(weight, allowed)[None])
            noise = [self._normalise(numbers[rows + full :], ~allowed) for numbers in own]
        else:
            noise = [
                self._normalise(
                    numbers[rows + full :],
                    self._mask(numbers[rows : rows + full], numbers[:rows], self.support),
                )
                for numbers in own
            ]
        draws["noise"] = seed_first(np.stack(noise))
        return draws

    def _mask(
        self, uniform: np.ndarray, repair: np.ndarray, chance: float, also_not_full: bool = False
    ) -> np.ndarray:
        """Which successors are possible: [(s*A + a)*S + s', seed]; no row empty (or full)."""
        possible = (uniform < chance).reshape(-1, self.states, uniform.shape[1])
        count = possible.sum(axis=1)
        chosen = (repair * self.states).astype(np.int64)
        row, seed = np.nonzero(count == 0)
        possible[row, chosen[row, seed], seed] = True
        if also_not_full:
            row, seed = np.nonzero(count == self.states)
            possible[row, chosen[row, seed], seed] = False
        return possible.reshape(uniform.shape)

    def _normalise(self, uniform: np.ndarray, possible: np.ndarray) -> np.ndarray:
        weight = (uniform * possible).reshape(-1, self.states, uniform.shape[1])
        return (weight / weight.sum(axis=1, keepdims=True)).reshape(uniform.shape)

    def successors(self) -> np.ndarray:
        return np.tile(np.arange(self.states), (self.states * self.actions, 1))

    def task(self, draws: Draws) -> TabularTask:
        centre = drawn(draws, "centre") if self.around_centre else None
        return TabularTask(
            members=self.populate(centre, drawn(draws, "noise")),
            states=self.states,
            actions=self.actions,
            gamma=self.gamma,
            successors=self.successors(),
            reward=drawn(draws, "reward"),
            start=np.full(self.states, 1.0 / self.states),
            score_shift=self.score_shift,
            score_scale=self.score_scale,
        )
