"""QAvg, Lemma 1: the average value is at least the imaginary environment's value."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.instances import Instances, by_size, draw, imaginary, size_of, values
from pfedrl.theory.statement import Statement


class Lemma1(Statement):
    """For all s and pi, V-bar^pi(s) >= V_I^pi(s); its proof takes P^k to be convex in P."""

    label: ClassVar[str] = "QAvg Lemma 1"
    records: ClassVar[tuple[str, ...]] = ("margin", "size")

    environments: int = Field(2, gt=1, description="n")
    largest: int = Field(5, gt=2, description="instances have 2 to this many states, in turn")
    actions: int = Field(2, gt=1)
    gamma: float = Field(0.9, gt=0, lt=1)

    def tasks(self, seeds: Sequence[int], states: int) -> Instances:
        return draw(seeds, states, self.actions, self.environments, self.gamma)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: min over s of V-bar - V_I for the seed's policy; `size`: its states."""
        margin, size = np.empty(len(seeds)), np.empty(len(seeds))
        for states, rows in by_size(seeds, self.largest):
            tasks = self.tasks([seeds[row] for row in rows], states)
            own = values(tasks.policy, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)
            imagined = values(tasks.policy, imaginary(tasks.moves), tasks.reward, tasks.gamma)
            margin[rows] = (own - imagined[:, 0]).min(axis=1)
            size[rows] = states
        return {"margin": margin, "size": size}

    def instance(self, seed: int) -> dict[str, Any]:
        return self.tasks([seed], size_of(seed, self.largest)).numbers()
