"""What is made of episodes' returns and of agents' nets, whoever the learner is.

Returns are [seed, agent, episode]; NaN where an agent diverged.
"""

from collections.abc import Iterator

import numpy as np

SMOOTHED = 9  # episodes of training whose returns are averaged for a curve
POINTS = 100  # of a training curve, at the least


def training_curve(returns: np.ndarray, episodes: int) -> Iterator[tuple[int, np.ndarray]]:
    """Episodes had by then, and the mean return [seed, agent] of the last ones."""
    stride = max(1, episodes // POINTS)
    for episode in range(stride, episodes + 1, stride):
        yield episode, returns[:, :, max(0, episode - SMOOTHED) : episode].mean(axis=2)


def return_summaries(returns: np.ndarray) -> dict[str, np.ndarray]:
    """Over the whole of training, [seed, agent] each."""
    return {
        "return_average": returns.mean(axis=2),
        "return_variance": returns.var(axis=2),
        "return_deviation": returns.std(axis=2),
        "return_median": np.median(returns, axis=2),
    }


def episodes_to(returns: np.ndarray, level: float, window: int) -> tuple[np.ndarray, np.ndarray]:
    """When the agents' mean return of a window of episodes first reaches a level, and if: [seed].

    Where it never does, it is all episodes, a lower bound; NaN where an agent diverged.
    """
    together = returns.mean(axis=1)
    recent = np.lib.stride_tricks.sliding_window_view(together, window, axis=1).mean(axis=2)
    there = recent >= level
    reached = there.any(axis=1)
    first = np.where(reached, there.argmax(axis=1) + window, float(returns.shape[2]))
    first[np.isnan(together).any(axis=1)] = np.nan
    return first, reached


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Between agents' vectors: [seed, agent, number] to [seed, agent, agent]."""
    vectors = vectors.astype(float)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=2, keepdims=True), 1e-12)
    return np.einsum("sif,sjf->sij", unit, unit)
