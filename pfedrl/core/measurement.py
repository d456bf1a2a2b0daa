"""A value that is worth recording."""

from typing import NamedTuple

import numpy as np


class Measurement(NamedTuple):
    """A metric of every seed, or of every seed and agent, at a point of training."""

    axis: str  # what `at` counts: "iteration", "episode", "frame", "round"
    at: int
    metric: str
    values: np.ndarray  # [seed] or [seed, agent]
    rows: np.ndarray | None = None  # the block's seeds that these are of; None: all of them
