"""Graphs of agents, and the matrices by which neighbours mix.

A graph is a symmetric matrix of booleans [agent, agent] with nothing on its diagonal.
"""

import numpy as np


def ring(agents: int) -> np.ndarray:
    """Everyone has the one before and the one after as neighbours."""
    places = np.arange(agents)
    apart = np.abs(places[:, None] - places)
    return ((apart == 1) | (apart == agents - 1)) & (apart > 0)


def fully_connected(agents: int) -> np.ndarray:
    return ~np.eye(agents, dtype=bool)


def star(agents: int) -> np.ndarray:
    """All are neighbours of agent 0, and of nobody else."""
    centre = np.arange(agents) == 0
    return centre[:, None] ^ centre


def random_connected(agents: int, chance: float, random: np.random.Generator) -> np.ndarray:
    """Erdos and Renyi's: each edge by chance, drawn again until all are connected."""
    if not 0 < chance <= 1:
        raise ValueError(f"edges with a chance of {chance} connect nobody: it must be in (0, 1]")
    while True:
        upper = np.triu(random.random((agents, agents)) < chance, 1)
        graph = upper | upper.T
        if is_connected(graph):
            return graph


def is_connected(graph: np.ndarray) -> bool:
    """Whether everyone can be reached from agent 0."""
    reached = np.arange(len(graph)) == 0
    for _ in graph:  # the longest way has fewer edges than there are agents
        reached = reached | graph[reached].any(axis=0)
    return bool(reached.all())


def metropolis_weights(graph: np.ndarray) -> np.ndarray:
    """Doubly stochastic weights of an undirected graph: 1 / (1 + max(deg_i, deg_j)) an edge."""
    graph = graph.astype(bool)
    if not (graph == graph.T).all():
        raise ValueError("Metropolis weights need an undirected graph (a symmetric adjacency)")
    neighbours = graph & ~np.eye(len(graph), dtype=bool)
    degree = neighbours.sum(axis=1)
    weights = np.where(neighbours, 1.0 / (1.0 + np.maximum.outer(degree, degree)), 0.0)
    return weights + np.diag(1.0 - weights.sum(axis=1))


def uniform_weights(graph: np.ndarray) -> np.ndarray:
    """Row-stochastic weights 1 / (deg_i + 1), as in the DePRL authors' code."""
    linked = graph + np.eye(len(graph))
    return linked / linked.sum(axis=1, keepdims=True)


def spectral_gap(matrix: np.ndarray) -> float:
    """1 - |lambda_2|: how fast mixing brings agents together, from 0 (never) to 1 (at once)."""
    sizes = np.sort(np.abs(np.linalg.eigvals(matrix)))
    return float(1.0 - sizes[-2]) if len(sizes) > 1 else 1.0
