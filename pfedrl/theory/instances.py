"""FedRL tasks drawn at random and solved exactly: environments that share a reward table.

Plain batched NumPy, seed first, independent of the compiled kernels: instances are small and the
two ways of computing a value check each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pfedrl.core.seeds import Purpose, generator


@dataclass(frozen=True)
class Instances:
    """One task a seed: n environments of the same size, rewards in [0, 1]."""

    moves: np.ndarray  # P_i(s'|s,a) as [seed, environment, s, a, s']
    reward: np.ndarray  # R(s,a) as [seed, s, a]
    policy: np.ndarray  # a policy drawn with the instance, [seed, s, a]
    gamma: float

    @property
    def states(self) -> int:
        return self.moves.shape[2]

    @property
    def actions(self) -> int:
        return self.moves.shape[3]

    @property
    def environments(self) -> int:
        return self.moves.shape[1]

    def numbers(self, seed: int = 0) -> dict[str, Any]:
        """One seed's task as numbers and lists."""
        return {
            "gamma": self.gamma,
            "moves": self.moves[seed].tolist(),
            "reward": self.reward[seed].tolist(),
            "policy": self.policy[seed].tolist(),
        }


def simplex(rng: np.random.Generator, shape: tuple[int, ...], concentration: float) -> np.ndarray:
    """Symmetric Dirichlet rows; a concentration below 1 favours the simplex's corners."""
    weight = rng.gamma(concentration, size=shape)
    return weight / weight.sum(axis=-1, keepdims=True)


def draw(
    seeds: Sequence[int],
    states: int,
    actions: int,
    environments: int,
    gamma: float,
    concentration: float = 1.0,
) -> Instances:
    """Random transitions, U(0,1) rewards and a random policy, from each seed's own generator."""
    moves = np.empty((len(seeds), environments, states, actions, states))
    reward = np.empty((len(seeds), states, actions))
    policy = np.empty((len(seeds), states, actions))
    for row, seed in enumerate(seeds):
        rng = generator(seed, Purpose.INSTANCE)
        moves[row] = simplex(rng, moves.shape[1:], concentration)
        reward[row] = rng.random(reward.shape[1:])
        policy[row] = simplex(rng, policy.shape[1:], 1.0)
    return Instances(moves, reward, policy, gamma)


def size_of(seed: int, largest: int) -> int:
    """The number of states of a seed's instance: 2, 3, ... largest, in turn."""
    return 2 + seed % (largest - 1)


def by_size(seeds: Sequence[int], largest: int) -> Iterator[tuple[int, np.ndarray]]:
    """Each number of states, and which of the seeds have it."""
    sizes = np.array([size_of(seed, largest) for seed in seeds])
    for states in np.unique(sizes):
        yield int(states), np.nonzero(sizes == states)[0]


def imaginary(moves: np.ndarray) -> np.ndarray:
    """The imaginary environment M_I (QAvg, Section 5.1): the average of the transitions."""
    return moves.mean(axis=1, keepdims=True)


def under(policy: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """P_i^pi(s'|s) as [seed, environment, s, s']."""
    return np.einsum("xsa,xisat->xist", policy, moves)


def values(policy: np.ndarray, moves: np.ndarray, reward: np.ndarray, gamma: float) -> np.ndarray:
    """V_i^pi as [seed, environment, s], by a linear solve."""
    system = np.eye(moves.shape[2]) - gamma * under(policy, moves)
    gained = np.einsum("xsa,xsa->xs", policy, reward)
    right = np.broadcast_to(gained[:, None, :, None], (*system.shape[:3], 1))
    return np.linalg.solve(system, right)[..., 0]


def occupancies(
    policy: np.ndarray, moves: np.ndarray, start: np.ndarray, gamma: float
) -> np.ndarray:
    """The normalised discounted occupancy d_i^pi as [seed, environment, s], from d0 [s]."""
    system = np.eye(moves.shape[2]) - gamma * under(policy, moves)
    right = np.broadcast_to((1 - gamma) * start[:, None], (*system.shape[:3], 1))
    return np.linalg.solve(np.swapaxes(system, -1, -2), right)[..., 0]


def backup(value: np.ndarray, moves: np.ndarray, reward: np.ndarray, gamma: float) -> np.ndarray:
    """Q_i(s,a) = R(s,a) + gamma sum_s' P_i(s'|s,a) V_i(s') as [seed, environment, s, a]."""
    return reward[:, None] + gamma * np.einsum("xisat,xit->xisa", moves, value)


def gradients(policy: np.ndarray, tasks: Instances, start: np.ndarray) -> np.ndarray:
    """d g_i / d pi(a|s) = d_i^pi(s) Q_i^pi(s,a) / (1-gamma), [seed, environment, s, a]."""
    value = values(policy, tasks.moves, tasks.reward, tasks.gamma)
    q = backup(value, tasks.moves, tasks.reward, tasks.gamma)
    occupancy = occupancies(policy, tasks.moves, start, tasks.gamma)
    return occupancy[..., None] * q / (1 - tasks.gamma)


def deterministic_policies(states: int, actions: int) -> np.ndarray:
    """All of them, [policy, s, a]."""
    choices = np.array(list(product(range(actions), repeat=states)))
    return np.eye(actions)[choices]


def project(policy: np.ndarray) -> np.ndarray:
    """Euclidean projection of the last axis on the simplex, by sorting."""
    ordered = -np.sort(-policy, axis=-1)
    count = np.arange(1, policy.shape[-1] + 1)
    threshold = (np.cumsum(ordered, axis=-1) - 1.0) / count
    last = (ordered > threshold).sum(axis=-1, keepdims=True) - 1
    return np.maximum(policy - np.take_along_axis(threshold, last, axis=-1), 0.0)
