"""QAvg, Theorem 4: the average Bellman operator is a contraction."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.core.seeds import Purpose, generator
from pfedrl.theory.instances import Instances, backup, by_size, draw, size_of
from pfedrl.theory.statement import Statement


class Theorem4(Statement):
    """||T Q_1 - T Q_2|| <= gamma ||Q_1 - Q_2||, T the mean of the environments' operators."""

    label: ClassVar[str] = "QAvg Theorem 4"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness", "size")

    environments: int = Field(2, gt=1, description="n")
    largest: int = Field(5, gt=2, description="instances have 2 to this many states, in turn")
    actions: int = Field(2, gt=1)
    gamma: float = Field(0.9, gt=0, lt=1)

    def tasks(self, seeds: Sequence[int], states: int) -> Instances:
        return draw(seeds, states, self.actions, self.environments, self.gamma)

    def tables(self, seeds: Sequence[int], states: int) -> np.ndarray:
        """Q_1 and Q_2: [2, seed, s, a]."""
        shape = (2, states, self.actions)
        drawn = [generator(s, Purpose.INSTANCE, 1).standard_normal(shape) for s in seeds]
        return np.stack(drawn, axis=1)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: right minus left; `tightness`: left over right."""
        margin, tightness, size = (np.empty(len(seeds)) for _ in range(3))
        for states, rows in by_size(seeds, self.largest):
            chosen = [seeds[row] for row in rows]
            first, second = self.tables(chosen, states)
            tasks = self.tasks(chosen, states)
            left = np.abs(average(first, tasks) - average(second, tasks)).max(axis=(1, 2))
            right = self.gamma * np.abs(first - second).max(axis=(1, 2))
            margin[rows], tightness[rows], size[rows] = right - left, left / right, states
        return {"margin": margin, "tightness": tightness, "size": size}

    def instance(self, seed: int) -> dict[str, Any]:
        states = size_of(seed, self.largest)
        first, second = self.tables([seed], states)[:, 0]
        return {
            **self.tasks([seed], states).numbers(),
            "first": first.tolist(),
            "second": second.tolist(),
        }


def average(table: np.ndarray, tasks: Instances) -> np.ndarray:
    """T Q, [seed, s, a]."""
    value = np.repeat(table.max(axis=-1)[:, None], tasks.environments, axis=1)
    return backup(value, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)
