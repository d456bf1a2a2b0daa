"""Frozen greedy evaluation: nets that no longer learn, in any environments, without exploration."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.envs.classic_control import Physics
from pfedrl.learners.stacked_net import StackedNet
from pfedrl.runs.seeds import Purpose, generator


def start_states(
    physics: Physics, seeds: Sequence[int], members: int, episodes: int, at: int, first: int = 0
) -> np.ndarray:
    """Start states [seed, member, episode, 4]; each evaluation has its own, in any block."""
    starts = np.empty((len(seeds), members, episodes, physics.STATE))
    for row, seed in enumerate(seeds):
        for member in range(members):
            rng = generator(seed, Purpose.EVALUATION, first + member, at)
            starts[row, member] = rng.uniform(-1, 1, starts.shape[2:]) * physics.start
    return starts


def greedy_returns(
    net: StackedNet, weights: Tensor, physics: Physics, parameters: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Undiscounted returns [replica, row] of nets [replica] from starts [replica, row, 4].

    parameters [replica, row, parameter] say in which environment each row is.
    """
    replicas, rows = starts.shape[:2]
    state = np.array(starts.reshape(replicas * rows, -1))
    flat = np.ascontiguousarray(parameters.reshape(replicas * rows, -1))
    observation = np.empty((replicas * rows, physics.observation), np.float32)
    active = np.ones(replicas * rows, np.bool_)
    reward = np.zeros(replicas * rows, np.float32)
    terminal = np.zeros(replicas * rows, np.bool_)
    total = np.zeros(replicas * rows)
    seen = torch.from_numpy(observation).view(replicas, rows, -1)
    for _ in range(physics.cap):
        physics.observe(state, observation)
        action = net.values(weights, seen).argmax(2).view(-1).numpy()
        physics.step(state, action, flat, active, reward, terminal)
        total += np.where(active, reward, 0.0)
        active &= ~terminal
        if not active.any():
            break
    return total.reshape(replicas, rows)
