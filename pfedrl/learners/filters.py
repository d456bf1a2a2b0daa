"""Running filters, one for each agent of each seed: what it has seen so far sets the scale."""

from typing import Any

import numpy as np


class RunningFilter:
    """x -> (x - mean) / std, clipped; mean and std of all that the agent has seen."""

    def __init__(self, seeds: int, agents: int, size: int, clip: float, centred: bool):
        self.clip, self.centred = clip, centred
        self.count = np.zeros((seeds, agents, 1))
        self.mean = np.zeros((seeds, agents, size))
        self.squares = np.zeros((seeds, agents, size))  # summed squared distances from the mean

    def __call__(self, seed: np.ndarray, agent: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Take in x [A, n, size] of the members (seed[i], agent[i]), then filter it."""
        at = (seed, agent)
        count, mean, squares = self.count[at], self.mean[at], self.squares[at]
        new = x.shape[1]
        new_mean = x.mean(axis=1)
        total, gap = count + new, new_mean - mean
        squares += ((x - new_mean[:, None]) ** 2).sum(axis=1) + gap**2 * (count * new / total)
        mean += gap * (new / total)
        self.count[at], self.mean[at], self.squares[at] = total, mean, squares
        # a single number has no spread: the authors' code takes its size
        std = np.sqrt(np.where(total > 1, squares / np.maximum(total - 1, 1), mean**2))
        centre = mean[:, None] if self.centred else 0.0
        return np.clip((x - centre) / (std[:, None] + 1e-8), -self.clip, self.clip)

    def state(self) -> dict[str, Any]:
        return {"count": self.count, "mean": self.mean, "squares": self.squares}

    def restore(self, state: dict[str, Any]) -> None:
        self.count, self.mean, self.squares = state["count"], state["mean"], state["squares"]
