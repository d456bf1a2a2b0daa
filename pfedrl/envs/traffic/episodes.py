"""Whole episodes of the figure eight, as data: for controls, calibration and drawings."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic.pool import FigureEightPool, Vehicles

# accelerations [episode, agent] from observations [episode, agent, 6] and standard normals
Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]

MOST_LOST = 20  # episodes in a row that SUMO may lose a vehicle in


def constant(acceleration: float) -> Policy:
    """The same acceleration always."""
    return lambda observations, normals: np.full_like(normals, acceleration)


def random_acceleration(observations: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """A normal number every step."""
    return normals


class Episode(NamedTuple):
    """What happened between a reset and the end."""

    seed: int
    rewards: np.ndarray  # [step]
    vehicles: list[Vehicles]  # [step], before the step
    crashed: bool
    lost: bool

    @property
    def total(self) -> float:
        """The undiscounted return."""
        return float(self.rewards.sum())


def play(pool: FigureEightPool, policy: Policy, seeds: Sequence[int]) -> list[Episode]:
    """An episode a seed, as many side by side as the pool is large.

    One that lost a vehicle is worth nothing and is played with another seed instead.
    """
    played: list[Episode] = []
    size = len(pool.remotes)
    for first in range(0, len(seeds), size):
        played += _side_by_side(pool, policy, seeds[first : first + size])
    for index, episode in enumerate(played):
        for attempt in range(MOST_LOST):
            if not episode.lost:
                break
            episode = _side_by_side(pool, policy, [other_seed(seeds[index], attempt)])[0]
        if episode.lost:
            raise PfedrlError(f"SUMO lost a vehicle in {MOST_LOST} episodes in a row.")
        played[index] = episode
    return played


def other_seed(seed: int, attempt: int) -> int:
    """The seed that takes a seed's place after so many lost episodes."""
    return int(np.random.SeedSequence([seed, attempt]).generate_state(1, np.uint64)[0] >> 1)


def _side_by_side(pool: FigureEightPool, policy: Policy, seeds: Sequence[int]) -> list[Episode]:
    horizon, agents = pool.family.horizon, pool.family.agents
    # a stream of its own: the humans' noise is the same whatever the policy draws
    normals = np.stack(
        [np.random.default_rng([seed, 1]).standard_normal((horizon, agents)) for seed in seeds]
    )
    rewards: list[list[float]] = [[] for _ in seeds]
    vehicles: list[list[Vehicles]] = [[] for _ in seeds]
    seen = pool.reset(seeds)
    running = list(range(len(seeds)))
    time = 0
    while running:
        for index in running:
            vehicles[index].append(seen[index].vehicles)
        observations = np.stack([seen[index].observations for index in running])
        answers = pool.step(policy(observations, normals[running, time]), running)
        for index, answer in zip(running, answers, strict=True):
            seen[index] = answer
            rewards[index].append(answer.reward)
        running = [index for index in running if not seen[index].ended]
        time += 1
    return [
        Episode(seed, np.array(rewards[i]), vehicles[i], seen[i].crashed, seen[i].lost)
        for i, seed in enumerate(seeds)
    ]
