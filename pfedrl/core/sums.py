"""Sums whose order is fixed."""

import numpy as np


def sum_in_order(values: np.ndarray) -> np.ndarray:
    """The sum over the first axis, one entry after the other.

    NumPy's own order depends on the other axes: over rounds [round, seed] it is this one for
    several seeds and another for one, and a seed alone would differ in its last bits.
    """
    total = np.zeros(values.shape[1:])
    for entry in values:
        total = total + entry
    return total


def mean_in_order(values: np.ndarray) -> np.ndarray:
    """The mean over the first axis, added up likewise."""
    return sum_in_order(values) / len(values)


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The least-squares slope of y [point, seed] over x [point]: [seed]."""
    centred = x - x.mean()
    return sum_in_order(centred[:, None] * y) / (centred @ centred)
