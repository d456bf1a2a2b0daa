"""Frozen greedy evaluation: nets that no longer learn, in any environments, without exploration."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from pfedrl.envs.classic.task import Physics
from pfedrl.stack.nets import Perceptron


def rollout(
    net: Perceptron, weights: Tensor, physics: Physics, parameters: np.ndarray, starts: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Greedy episodes from starts [replica, row, 4], in environments [replica, row, parameter].

    At each step, for every row: the greedy value, the reward, and whether the episode was still on.
    """
    replicas, rows = starts.shape[:2]
    state = np.array(starts.reshape(replicas * rows, -1))
    flat = np.ascontiguousarray(parameters.reshape(replicas * rows, -1))
    observation = np.empty((replicas * rows, physics.observation), np.float32)
    active = np.ones(replicas * rows, np.bool_)
    reward = np.zeros(replicas * rows, np.float32)
    terminal = np.zeros(replicas * rows, np.bool_)
    seen = torch.from_numpy(observation).view(replicas, rows, -1)
    for _ in range(physics.cap):
        physics.observe(state, observation)
        value, action = net.outputs(weights, seen).view(replicas * rows, -1).max(1)
        physics.step(state, action.numpy(), flat, active, reward, terminal)
        yield value.numpy(), np.where(active, reward, 0.0), active
        active &= ~terminal
        if not active.any():
            break


def greedy_returns(
    net: Perceptron, weights: Tensor, physics: Physics, parameters: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Undiscounted returns [replica, row]."""
    total = np.zeros(starts.shape[0] * starts.shape[1])
    for _, reward, _ in rollout(net, weights, physics, parameters, starts):
        total += reward
    return total.reshape(starts.shape[:2])


def value_errors(
    net: Perceptron, weights: Tensor, physics: Physics, parameters: np.ndarray,
    starts: np.ndarray, gamma: float,
) -> np.ndarray:  # fmt: skip
    """Mean squared difference [replica] of greedy values and discounted returns from there."""
    steps = [
        (value, reward, active.copy())
        for value, reward, active in rollout(net, weights, physics, parameters, starts)
    ]
    squares, count = np.zeros(steps[0][0].shape), np.zeros(steps[0][0].shape)
    ahead = np.zeros(squares.shape)
    for value, reward, active in reversed(steps):
        ahead = np.where(active, reward + gamma * ahead, 0.0)
        squares += np.where(active, (value - ahead) ** 2, 0.0)
        count += active
    shape = starts.shape[:2]
    return squares.reshape(shape).sum(axis=1) / count.reshape(shape).sum(axis=1)
