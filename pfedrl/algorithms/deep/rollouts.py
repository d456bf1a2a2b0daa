"""Frozen evaluation: nets that no longer learn, in any environments, without exploration."""

from typing import Protocol

import numpy as np
from torch import Tensor

from pfedrl.envs.environments import Environments, episode_returns, rollout


class Policy(Protocol):
    """How nets [net, weight] act in rows of environments, equally many a net."""

    @property
    def value(self) -> np.ndarray:
        """[row], of the actions taken last, as the nets see it."""

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """Actions [row, number]."""


class MakePolicy(Protocol):
    """A policy of nets with these weights [net, weight]."""

    def __call__(self, weights: Tensor) -> Policy: ...


def frozen_returns(policy: Policy, environments: Environments, starts: np.ndarray) -> np.ndarray:
    """Undiscounted returns [net, row] of episodes from starts [net, row, number]."""
    rows = starts.reshape(-1, starts.shape[2])
    return episode_returns(environments, rows, policy).reshape(starts.shape[:2])


def value_errors(
    policy: Policy, environments: Environments, starts: np.ndarray, gamma: float
) -> np.ndarray:
    """Mean squared difference [net] of the nets' values and discounted returns from there."""
    shape = starts.shape[:2]
    steps = [
        (policy.value, reward, active)
        for reward, active in rollout(environments, starts.reshape(-1, starts.shape[2]), policy)
    ]
    squares, count, ahead = (np.zeros(shape).ravel() for _ in range(3))
    for value, reward, active in reversed(steps):
        ahead = np.where(active, reward + gamma * ahead, 0.0)
        squares += np.where(active, (value - ahead) ** 2, 0.0)
        count += active
    return squares.reshape(shape).sum(axis=1) / count.reshape(shape).sum(axis=1)
