"""Compiled parts of DDPG: noisy actions, and the critic's loss."""

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy")

ONE = np.float32(1.0)


@kernel
def explore(wanted, active, normals, place, pull, spread, limit, noise, action):
    """Actions [replica, number] within +-limit: wanted ones with Ornstein-Uhlenbeck noise."""
    pull, spread, limit = np.float32(pull), np.float32(spread), np.float32(limit)
    for r in range(len(wanted)):
        if not active[r]:
            continue
        drawn = normals[r, place[r]]
        for j in range(wanted.shape[1]):
            noise[r, j] += spread * drawn[j] - pull * noise[r, j]
            action[r, j] = limit * min(max(wanted[r, j] + noise[r, j], -ONE), ONE)


@kernel
def loss_gradient(values, following, reward, stops, gamma, learning, gradient, loss):
    """Mean squared error against r + gamma Q'(s', pi'(s')), and its gradient by the values."""
    gamma = np.float32(gamma)
    replicas, batch = reward.shape
    share = ONE / np.float32(batch)
    for r in range(replicas):
        if not learning[r]:
            gradient[r] = 0.0
            continue
        loss[r] = 0.0
        for b in range(batch):
            target = reward[r, b] if stops[r, b] else reward[r, b] + gamma * following[r, b, 0]
            error = values[r, b, 0] - target
            gradient[r, b, 0] = np.float32(2.0) * error * share
            loss[r] += error * error * share
