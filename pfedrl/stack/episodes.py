"""Counting episodes of the whole stack: their returns, as they end."""

from typing import Any

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy")


@kernel
def count(active, reward, terminated, truncated, total, done, summed, returns, over):
    """Add a step's rewards; where the episode is over, keep its return."""
    ended = False
    for r in range(len(active)):
        over[r] = active[r] and (terminated[r] or truncated[r])
        if active[r]:
            total[r] += reward[r]
        if over[r]:
            ended = True
            if done[r] < returns.shape[1]:
                returns[r, done[r]] = total[r]
            done[r] += 1
            summed[r] += total[r]
            total[r] = 0.0
    return ended


class Episodes:
    """Of every row, the episodes so far, the sum of their returns, and those of the first ones."""

    KEPT = ("total", "done", "summed", "returns")

    def __init__(self, rows: int, kept: int):
        self.total = np.zeros(rows)  # of the episode under way
        self.done = np.zeros(rows, np.int64)
        self.summed = np.zeros(rows)
        self.returns = np.full((rows, kept), np.nan)
        self.over = np.zeros(rows, np.bool_)

    def count(
        self, active: np.ndarray, reward: np.ndarray, terminated: np.ndarray, truncated: np.ndarray
    ) -> np.ndarray:
        """Take in one step of the active rows; the rows [index] whose episode it ended."""
        ended = count(
            active, reward, terminated, truncated, self.total, self.done, self.summed,
            self.returns, self.over,
        )  # fmt: skip
        return np.flatnonzero(self.over) if ended else np.empty(0, np.intp)

    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.KEPT}

    def restore(self, state: dict[str, Any]) -> None:
        for name in self.KEPT:
            setattr(self, name, state[name])
