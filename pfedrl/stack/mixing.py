"""How parts are mixed along the agent axis: one contraction for the whole stack.

Arrays are NumPy's or torch's, shaped [seed, agent, ...]; only operators both have are used.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from pfedrl.stack.selection import Selection

Array = Any  # numpy.ndarray or torch.Tensor


class Mixing(Protocol):
    """Turns the agents' copies of a part into what each of them holds after a round."""

    def __call__(self, part: Array, round: int) -> Array:
        """What broadcasts to the part's own shape."""

    def receivers(self, shape: tuple[int, int], round: int) -> np.ndarray:
        """To how many others each agent sends its copy in a round: [seed, agent]."""


def contract(weights: np.ndarray, part: Array) -> Array:
    """part'[s, i] = sum_j weights[(s,) i, j] part[s, j]."""
    seeds, agents = part.shape[:2]
    rows = part.reshape(seeds, agents, -1)
    if isinstance(part, np.ndarray):
        mixed = weights @ rows
    else:  # no import of torch, which tables do without; two of a seed alone, as in stack.products
        count = max(seeds, 2)
        matrix = part.new_tensor(weights).expand(count, -1, -1)
        mixed = matrix.bmm(rows.expand(count, -1, -1))[:seeds]
    return mixed.reshape(seeds, mixed.shape[1], *part.shape[2:])


class ServerAverage:
    """Everyone receives the server's average of those selected: plain, or weighted by their data.

    Whoever is not selected sends nothing, and holds the average when its turn comes.
    """

    def __init__(self, selection: Selection | None = None, weights: np.ndarray | None = None):
        self.selection = selection  # None: all agents, in every round
        self.weights = weights  # [agent] or [seed, agent]; None: all alike

    def __call__(self, part: Array, round: int) -> Array:
        weights = self.weights
        if self.selection is not None:
            chosen = self.selection(round)
            rows = np.arange(len(chosen))[:, None]
            part = part[rows, chosen]
            if weights is not None:
                weights = np.broadcast_to(weights, (len(chosen), np.shape(weights)[-1]))
                weights = weights[rows, chosen]
        if weights is None:
            return part.mean(1)[:, None]
        return contract((weights / weights.sum(axis=-1, keepdims=True))[..., None, :], part)

    def receivers(self, shape: tuple[int, int], round: int) -> np.ndarray:
        if self.selection is None:
            return np.ones(shape)
        sending = np.zeros(shape)
        np.put_along_axis(sending, self.selection(round), 1.0, axis=1)
        return sending


class NeighbourAverage:
    """Neighbours on a graph mix by a row-stochastic matrix P: phi_i <- sum_j P_ij phi_j.

    P is [agent, agent], or [seed, agent, agent] where seeds have graphs of their own; a function of
    the round gives graphs that change.
    """

    def __init__(self, matrix: np.ndarray | Callable[[int], np.ndarray]):
        self.matrix = matrix if callable(matrix) else checked(matrix)

    def at(self, round: int) -> np.ndarray:
        """P in a round."""
        return checked(self.matrix(round)) if callable(self.matrix) else self.matrix

    def __call__(self, part: Array, round: int) -> Array:
        return contract(self.at(round), part)

    def receivers(self, shape: tuple[int, int], round: int) -> np.ndarray:
        matrix = self.at(round)
        others = (matrix > 0) & ~np.eye(shape[1], dtype=bool)
        return np.broadcast_to(others.sum(axis=-2), shape)  # the column of who sends


def checked(matrix: np.ndarray) -> np.ndarray:
    """The matrix, if it can mix."""
    if not np.allclose(matrix.sum(axis=-1), 1.0) or (matrix < 0).any():
        raise ValueError("a mixing matrix needs non-negative rows that sum to 1")
    return matrix
