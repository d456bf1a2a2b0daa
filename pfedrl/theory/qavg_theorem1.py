"""QAvg, Theorem 1: the best policy depends on where the agents start."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.instances import Instances, draw, values
from pfedrl.theory.statement import Statement


class Theorem1(Statement):
    """There is a task, d0' and pi~ with g_d0(pi~) < g_d0(pi*) but g_d0'(pi~) > g_d0'(pi*)."""

    label: ClassVar[str] = "QAvg Theorem 1"
    records: ClassVar[tuple[str, ...]] = ("gain",)

    gamma: float = Field(0.9, gt=0, lt=1)
    grid: int = Field(21, gt=2, description="probabilities tried a state before zooming in")
    zooms: int = Field(14, ge=0, description="times the grid's step is halved around the best")

    def tasks(self, seeds: Sequence[int]) -> Instances:
        """Two environments of two states and two actions, as in the paper's Figure 7."""
        return draw(seeds, states=2, actions=2, environments=2, gamma=self.gamma)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        return {"gain": self.gain(self.tasks(seeds))}

    def gain(self, tasks: Instances) -> np.ndarray:
        """The lesser of what pi* gains over pi~ at d0 and pi~ over pi* at d0': [seed].

        d0 starts in the first state and d0' in the second; pi* and pi~ are the best policies from
        there. Where the gain is positive the two inequalities of the theorem hold.
        """
        first = self.objectives(tasks, self.best(tasks, start=0))
        second = self.objectives(tasks, self.best(tasks, start=1))
        return np.minimum(first[:, 0] - second[:, 0], second[:, 1] - first[:, 1])

    def objectives(self, tasks: Instances, chances: np.ndarray) -> np.ndarray:
        """g from each start, [seed, s], of the policies that take the first action by chances."""
        policy = np.stack([chances, 1.0 - chances], axis=-1)
        return values(policy, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)

    def best(self, tasks: Instances, start: int) -> np.ndarray:
        """The best policy (p, q) from a start, [seed, 2]: a grid, then a finer one around it.

        Between its ends the objective is smooth in p and q; after the last zoom the step is below
        1e-5, so that an optimum inside is met to about 1e-10 and one at an end exactly.
        """
        found = np.full((len(tasks.reward), 2), 0.5)
        width, points = 0.5, self.grid
        for _ in range(1 + self.zooms):
            offsets = np.linspace(-width, width, points)
            candidates = [
                np.clip(found + np.array([up, across]), 0.0, 1.0)
                for up in offsets
                for across in offsets
            ]
            scores = [self.objectives(tasks, chances)[:, start] for chances in candidates]
            choice = np.argmax(scores, axis=0)
            found = np.stack(candidates)[choice, np.arange(len(found))]
            width, points = offsets[1] - offsets[0], 5
        return found

    def instance(self, seed: int) -> dict[str, Any]:
        return self.tasks([seed]).numbers()


def figure7() -> Instances:
    """The paper's counterexample, as far as its proof tells what the figure shows.

    First state: a0 stays and earns 10; a1 earns 1000 and leads to the second state in the first
    environment only. Second state: a0 earns 0 and leads back in the first environment only; a1
    costs 1 and leads back in both.
    """
    to_first, to_second = [1.0, 0.0], [0.0, 1.0]
    moves = [
        [[to_first, to_second], [to_first, to_first]],
        [[to_first, to_first], [to_second, to_first]],
    ]
    return Instances(
        moves=np.array([moves]),
        reward=np.array([[[10.0, 1000.0], [0.0, -1.0]]]),
        policy=np.full((1, 2, 2), 0.5),
        gamma=0.9,
    )
