"""How parts are mixed along the agent axis: one contraction for the whole stack.

Arrays are NumPy's or torch's, shaped [seed, agent, ...]; only operators both have are used.
"""

from typing import Any, Protocol

import numpy as np

Array = Any  # numpy.ndarray or torch.Tensor


class Mixing(Protocol):
    """Turns the agents' copies of a part into what each of them holds afterwards."""

    def __call__(self, part: Array) -> Array: ...


def contract(weights: np.ndarray, part: Array) -> Array:
    """part'[s, i] = sum_j weights[(s,) i, j] part[s, j]."""
    seeds, agents = part.shape[:2]
    matrix = weights if isinstance(part, np.ndarray) else part.new_tensor(weights)
    return (matrix @ part.reshape(seeds, agents, -1)).reshape(part.shape)


class ServerAverage:
    """Everyone receives the server's average: plain, or weighted by the agents' data."""

    def __init__(self, weights: np.ndarray | None = None):
        self.weights = None if weights is None else weights / weights.sum(axis=-1, keepdims=True)

    def __call__(self, part: Array) -> Array:
        if self.weights is None:
            return part.mean(1)[:, None]
        rows = np.broadcast_to(
            self.weights[..., None, :], (*self.weights.shape[:-1], *part.shape[1:2] * 2)
        )
        return contract(rows, part)


class Graph:
    """Neighbours on a graph mix by a row-stochastic matrix P: phi_i <- sum_j P_ij phi_j."""

    def __init__(self, matrix: np.ndarray):
        if not np.allclose(matrix.sum(axis=-1), 1.0) or (matrix < 0).any():
            raise ValueError("a mixing matrix needs non-negative rows that sum to 1")
        self.matrix = matrix

    def __call__(self, part: Array) -> Array:
        return contract(self.matrix, part)


def metropolis_weights(adjacency: np.ndarray) -> np.ndarray:
    """Doubly stochastic weights of an undirected graph: 1 / (1 + max(deg_i, deg_j)) an edge."""
    adjacency = adjacency.astype(bool)
    if not (adjacency == adjacency.T).all():
        raise ValueError("Metropolis weights need an undirected graph (a symmetric adjacency)")
    neighbours = adjacency & ~np.eye(len(adjacency), dtype=bool)
    degree = neighbours.sum(axis=1)
    weights = np.where(neighbours, 1.0 / (1.0 + np.maximum.outer(degree, degree)), 0.0)
    return weights + np.diag(1.0 - weights.sum(axis=1))
