"""Adam on rows is PyTorch's and Keras's, SGD is PyTorch's; only the rows and columns asked for."""

import numpy as np
import pytest
import torch
from numba import njit

from pfedrl.stack.optimisers import KERAS, PYTORCH, adam, sgd

ROWS, COLUMNS, STEPS = 3, 40, 25


def run(rule, rates, active, decay=None, columns=slice(0, COLUMNS)):
    """Weights before and after some steps, and the gradients of these."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    gradients = rng.normal(size=(STEPS, ROWS, COLUMNS)).astype(np.float32)
    weights, moments, steps = (
        start.copy(),
        np.zeros((2, *start.shape), np.float32),
        np.zeros(3, int),
    )
    for gradient in gradients:
        adam(
            weights, gradient, *moments, steps, rates, active, columns.start, columns.stop, *rule,
            decay,
        )  # fmt: skip
    np.testing.assert_array_equal(steps, STEPS * active)
    return start, weights, gradients


def test_it_is_pytorchs_each_row_at_its_own_rate():
    rates, active = np.array([1e-3, 5e-3, 1e-3]), np.array([True, True, False])
    start, found, gradients = run(PYTORCH, rates, active)
    for row in (0, 1):
        theirs = torch.nn.Parameter(torch.from_numpy(start[row].copy()))
        optimiser = torch.optim.Adam([theirs], lr=rates[row])
        for gradient in gradients:
            theirs.grad = torch.from_numpy(gradient[row])
            optimiser.step()
        np.testing.assert_allclose(found[row], theirs.detach().numpy(), atol=2e-6)
    np.testing.assert_array_equal(found[2], start[2])


def test_it_is_keras_with_an_l2_penalty():
    rate, decay = 1e-2, np.linspace(0, 1e-2, COLUMNS).astype(np.float32)
    start, found, gradients = run(KERAS, np.full(ROWS, rate), np.ones(ROWS, bool), decay)
    weights, first, second = start.astype(np.float64), 0.0, 0.0
    for step, gradient in enumerate(gradients, 1):
        slope = gradient + decay * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        size = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        weights -= size * first / (np.sqrt(second) + 1e-7)
    np.testing.assert_allclose(found, weights, atol=1e-5)


def test_columns_outside_the_range_stay():
    start, found, _ = run(PYTORCH, np.full(ROWS, 1e-3), np.ones(ROWS, bool), columns=slice(7, 30))
    changed = (found != start).all(axis=0)
    assert changed[7:30].all() and not changed[:7].any() and not changed[30:].any()


@pytest.mark.parametrize("decay", [None, np.zeros(COLUMNS, np.float32)], ids=["plain", "decay"])
def test_no_step_starts_from_an_estimate_of_the_processor(decay):
    """rcpps and rsqrtps give other bits on another make of processor."""
    afresh = njit(error_model="numpy", fastmath=adam.targetoptions["fastmath"])(adam.py_func)
    rows = np.zeros((ROWS, COLUMNS), np.float32)
    afresh(
        rows, rows, rows, rows, np.zeros(ROWS, np.int64), np.zeros(ROWS), np.ones(ROWS, bool), 0,
        COLUMNS, *KERAS, decay,
    )  # fmt: skip
    (assembly,) = afresh.inspect_asm().values()
    assert "sqrtps" in assembly  # it is vectorised
    assert "rcpps" not in assembly and "rsqrtps" not in assembly


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 5e-2])
def test_sgd_on_a_parabola_is_its_closed_form(momentum, decay):
    """Of x^2 / 2: x_t+1 = (1 + momentum - rate (1 + decay)) x_t - momentum x_t-1."""
    rates, active = np.array([0.1, 0.05, 0.1]), np.array([True, True, False])
    weights = np.repeat([[1.0, -2.0, 3.0]], ROWS, axis=0).astype(np.float32)
    start = weights.copy()
    velocity = np.zeros_like(weights) if momentum else None
    pull = np.full(3, decay, np.float32) if decay else None
    for _ in range(STEPS):
        sgd(weights, weights.copy(), velocity, rates, active, 0, 2, momentum, pull)
    for row in (0, 1):
        across = 1 + momentum - rates[row] * (1 + decay)
        matrix = np.array([[across, -momentum], [1, 0]])
        first = 1 - rates[row] * (1 + decay)  # after one step
        factor = (np.linalg.matrix_power(matrix, STEPS - 1) @ [first, 1])[0]
        np.testing.assert_allclose(weights[row, :2], factor * start[row, :2], rtol=1e-4)
    np.testing.assert_array_equal(weights[2], start[2])
    np.testing.assert_array_equal(weights[:, 2], start[:, 2])  # beyond the last column


def test_sgd_is_pytorchs_each_row_at_its_own_rate():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    gradients = rng.normal(size=(STEPS, ROWS, COLUMNS)).astype(np.float32)
    rates, everyone = np.array([1e-3, 5e-3, 1e-2]), np.ones(ROWS, bool)
    found, velocity = start.copy(), np.zeros_like(start)
    decay = np.full(COLUMNS, 5e-4, np.float32)
    for gradient in gradients:
        sgd(found, gradient, velocity, rates, everyone, 0, COLUMNS, 0.9, decay)
    for row, rate in enumerate(rates):
        theirs = torch.nn.Parameter(torch.from_numpy(start[row].copy()))
        optimiser = torch.optim.SGD([theirs], lr=rate, momentum=0.9, weight_decay=5e-4)
        for gradient in gradients:
            theirs.grad = torch.from_numpy(gradient[row])
            optimiser.step()
        np.testing.assert_allclose(found[row], theirs.detach().numpy(), atol=2e-6)
