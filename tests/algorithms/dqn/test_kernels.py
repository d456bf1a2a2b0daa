"""The loss of deep value learning, by hand."""

import numpy as np
import pytest

from pfedrl.algorithms.dqn import kernels


def test_the_loss_is_against_the_target_net_and_stops_at_terminal_states():
    values = np.array([[[1.0, 2.0], [3.0, 4.0]]], np.float32)
    following = np.array([[[5.0, 7.0], [9.0, 8.0]]], np.float32)
    action, reward = np.array([[[0], [1]]]), np.array([[1.0, 1.0]], np.float32)
    slope, loss = np.zeros_like(values), np.zeros(1)
    kernels.loss_gradient(
        values, following, action, reward, np.array([[False, True]]), 0.5,
        np.array([True]), slope, loss,
    )  # fmt: skip
    errors = np.array([1.0 - (1.0 + 0.5 * 7.0), 4.0 - 1.0])
    assert loss[0] == pytest.approx((errors**2).mean())
    np.testing.assert_allclose(slope[0], [[errors[0], 0.0], [0.0, errors[1]]])
