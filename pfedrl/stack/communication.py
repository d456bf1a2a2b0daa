"""Who talks to whom, by name: the communication graphs of DePRL's experiments, a seed each."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack import graphs

GraphName = Literal["ring", "random", "fully_connected", "star"]
Weights = Literal["metropolis", "uniform"]  # doubly stochastic; row-stochastic, as in the code

CHANCE = 0.25  # of an edge in a random graph
DRAWN = (0, 0)  # where a seed's random graph is drawn, apart from selections by round


def graph_of(name: GraphName, agents: int, seed: int) -> np.ndarray:
    """The graph [agent, agent] of a seed; only a random one depends on it."""
    match name:
        case "ring":
            return graphs.ring(agents)
        case "fully_connected":
            return graphs.fully_connected(agents)
        case "star":
            return graphs.star(agents)
    random = generator(seed, Purpose.SERVER, *DRAWN)
    return graphs.random_connected(agents, CHANCE, random)


def mixing_matrices(
    name: GraphName, weights: Weights, agents: int, seeds: Sequence[int]
) -> np.ndarray:
    """P of every seed: [seed, agent, agent]."""
    weigh = graphs.metropolis_weights if weights == "metropolis" else graphs.uniform_weights
    return np.stack([weigh(graph_of(name, agents, seed)) for seed in seeds])


def spectral_gaps(matrices: np.ndarray) -> np.ndarray:
    """How fast each seed's graph mixes: [seed]."""
    return np.array([graphs.spectral_gap(matrix) for matrix in matrices])
