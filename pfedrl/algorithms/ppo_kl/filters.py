"""Running filters, one for each agent of each seed: what it has seen so far sets the scale."""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def take_in(count, mean, squares, seed, agent, x, clip, centred, out):
    """Compiled: agents of one simulation are filtered step by step, a few numbers at a time."""
    new = x.shape[1]
    for i in range(x.shape[0]):
        s, a = seed[i], agent[i]
        before = count[s, a, 0]
        total = before + new
        count[s, a, 0] = total
        for d in range(x.shape[2]):
            new_mean = 0.0
            for j in range(new):
                new_mean += x[i, j, d]
            new_mean /= new
            spread = 0.0
            for j in range(new):
                spread += (x[i, j, d] - new_mean) ** 2
            gap = new_mean - mean[s, a, d]
            squares[s, a, d] += spread + gap * gap * before * new / total
            mean[s, a, d] += gap * new / total
            # a single number has no spread: the authors' code takes its size
            std = abs(mean[s, a, d])
            if total > 1:
                std = np.sqrt(squares[s, a, d] / (total - 1))
            centre = mean[s, a, d] if centred else 0.0
            for j in range(new):
                scaled = (x[i, j, d] - centre) / (std + 1e-8)
                out[i, j, d] = min(max(scaled, -clip), clip)


class RunningFilter:
    """x -> (x - mean) / std, clipped; mean and std of all that the agent has seen."""

    def __init__(self, seeds: int, agents: int, size: int, clip: float, centred: bool):
        self.clip, self.centred = clip, centred
        self.count = np.zeros((seeds, agents, 1))
        self.mean = np.zeros((seeds, agents, size))
        self.squares = np.zeros((seeds, agents, size))  # summed squared distances from the mean

    def __call__(self, seed: np.ndarray, agent: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Take in x [A, n, size] of the members (seed[i], agent[i]), then filter it."""
        out = np.empty_like(x)
        take_in(self.count, self.mean, self.squares, seed, agent, x, self.clip, self.centred, out)
        return out

    def state(self) -> dict[str, Any]:
        return {"count": self.count, "mean": self.mean, "squares": self.squares}

    def restore(self, state: dict[str, Any]) -> None:
        self.count, self.mean, self.squares = state["count"], state["mean"], state["squares"]
