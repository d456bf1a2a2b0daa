"""Frozen greedy evaluation: nets that no longer learn, in any environments, without exploration."""

import numpy as np
import torch
from torch import Tensor

from pfedrl.envs.environments import Environments, episode_returns, rollout
from pfedrl.stack.nets import Perceptron


class Greedy:
    """How nets [net, weight] act in rows of environments, equally many a net; it keeps values."""

    def __init__(self, net: Perceptron, weights: Tensor):
        self.net, self.weights = net, weights
        self.value = np.zeros(0)  # [row], of the actions taken last

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        seen = torch.from_numpy(observation).view(len(self.weights), -1, observation.shape[1])
        values = self.net.outputs(self.weights, seen).view(len(observation), -1)
        value, action = values.max(1, keepdim=True)
        self.value = value[:, 0].numpy()
        return action.numpy()


def greedy_returns(
    net: Perceptron, weights: Tensor, environments: Environments, starts: np.ndarray
) -> np.ndarray:
    """Undiscounted returns [net, row] of episodes from starts [net, row, number]."""
    rows = starts.reshape(-1, starts.shape[2])
    return episode_returns(environments, rows, Greedy(net, weights)).reshape(starts.shape[:2])


def value_errors(
    net: Perceptron, weights: Tensor, environments: Environments, starts: np.ndarray, gamma: float
) -> np.ndarray:
    """Mean squared difference [net] of greedy values and discounted returns from there."""
    act, shape = Greedy(net, weights), starts.shape[:2]
    steps = [
        (act.value, reward, active)
        for reward, active in rollout(environments, starts.reshape(-1, starts.shape[2]), act)
    ]
    squares, count, ahead = (np.zeros(shape).ravel() for _ in range(3))
    for value, reward, active in reversed(steps):
        ahead = np.where(active, reward + gamma * ahead, 0.0)
        squares += np.where(active, (value - ahead) ** 2, 0.0)
        count += active
    return squares.reshape(shape).sum(axis=1) / count.reshape(shape).sum(axis=1)
