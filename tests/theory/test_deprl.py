"""DePRL's statements: gradients by finite differences, the optimum, the loop by a plain one."""

import numpy as np
import pytest

from pfedrl.core.seeds import Purpose, generator
from pfedrl.theory.deprl import RIDGE, connectivity
from pfedrl.theory.deprl_corollary1 import Corollary1
from pfedrl.theory.deprl_theorem1 import Theorem1


def loss(coupling, target, phi, theta):
    """F_i of one worker."""
    residual = phi + coupling @ theta - target
    return residual @ residual / 2 + RIDGE * theta @ theta / 2


def test_gradients_agree_with_finite_differences():
    statement = Theorem1(workers=3)
    problem = statement.problem([4], 3)
    rng = np.random.default_rng(0)
    phi, theta = rng.normal(size=(1, 1, 3, 3)), rng.normal(size=(1, 1, 3, 2))
    step = 1e-6
    for i in range(3):
        A, b = problem.coupling[0, i], problem.target[0, i]
        for part, size, gradient in (
            ("phi", 3, problem.residual(phi, theta)),
            ("theta", 2, problem.head_gradient(phi, theta)),
        ):
            for entry in range(size):
                bump = step * np.eye(size)[entry]
                up, down = (
                    loss(A, b, phi[0, 0, i] + sign * bump * (part == "phi"), theta[0, 0, i])
                    if part == "phi"
                    else loss(A, b, phi[0, 0, i], theta[0, 0, i] + sign * bump)
                    for sign in (1, -1)
                )
                assert gradient[0, 0, i, entry] == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_no_point_is_below_the_least_loss_and_long_training_without_noise_reaches_it():
    statement = Theorem1(workers=4, noise=0.0, replicates=1)
    problem = statement.problem([1], 4)
    least = problem.least_loss()
    rng = np.random.default_rng(1)
    for _ in range(100):
        phi = np.broadcast_to(rng.normal(size=(1, 1, 1, 3)), (1, 1, 4, 3))
        assert problem.loss(phi, rng.normal(size=(1, 1, 4, 2)))[0] >= least[0]
    rates = np.full(1, 0.02)
    course = statement.train(problem, [1], rates, rates, 4000)
    assert course.measure[-1, 0] < 1e-3 * course.measure[0, 0]


@pytest.mark.parametrize("mixing", ["doubly", "row"])
def test_the_loop_agrees_with_a_plain_one(mixing):
    statement = Theorem1(workers=4, graph="star", mixing=mixing, replicates=1, head_steps=2)
    problem, P = statement.problem([6], 4), statement.matrix(4)
    alpha, beta, rng = 0.1, 0.2, generator(6, Purpose.AGENT)
    phi, theta = np.zeros((4, 3)), np.zeros((4, 2))
    consensus = []
    for _ in range(5):
        consensus.append(((phi - phi.mean(axis=0)) ** 2).sum(axis=1).mean())
        drawn = rng.standard_normal((1, 4, 7))[0]
        half = np.empty_like(phi)
        for i in range(4):
            A, b = problem.coupling[0, i], problem.target[0, i]
            for step in range(2):
                noise = 0.5 / np.sqrt(2) * drawn[i, 2 * step : 2 * step + 2]
                residual = phi[i] + A @ theta[i] - b
                theta[i] = theta[i] - alpha * (A.T @ residual + RIDGE * theta[i] + noise)
            residual = phi[i] + A @ theta[i] - b
            half[i] = phi[i] - beta * (residual + 0.5 / np.sqrt(3) * drawn[i, 4:])
        phi = P @ half
    course = statement.train(problem, [6], np.full(1, alpha), np.full(1, beta), 5)
    np.testing.assert_allclose(course.consensus[:, 0], consensus, rtol=1e-10, atol=1e-15)


def test_doubly_stochastic_mixing_has_columns_that_sum_to_one_and_row_mixing_does_not():
    for graph in ("ring", "full", "star"):
        matrix = Theorem1(graph=graph).matrix(6)
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    row = Theorem1(graph="star", mixing="row").matrix(6)
    np.testing.assert_allclose(row.sum(axis=1), 1.0)
    assert abs(row.sum(axis=0)[0] - 1.0) > 0.5


def test_connectivity_of_two_workers_by_hand():
    scale, mixed = connectivity(np.full((2, 2), 0.5))
    assert scale == pytest.approx(2 * 5 / 0.75)
    assert mixed == pytest.approx(1 - np.sqrt(0.75))


@pytest.mark.parametrize(
    ("settings", "applies"),
    [
        ({"workers": 2}, 1.0),
        ({"workers": 8, "beta": 0.05}, 0.0),
        ({"workers": 3, "graph": "star", "mixing": "row"}, 0.0),
    ],
    ids=["the rate it allows", "a rate it does not", "not doubly stochastic"],
)
def test_theorem_1_applies_within_its_premises_only(settings, applies):
    metrics = Theorem1(**settings, iterations=5, replicates=1).check(range(3))
    np.testing.assert_array_equal(metrics["applies"], applies)


def test_corollary_1_asks_for_more_rounds_than_any_run_has():
    statement = Corollary1(rounds=(10, 20), workers=(2, 4), replicates=1)
    np.testing.assert_array_equal(statement.check(range(2))["applies"], 0.0)
    assert (statement.rounds_needed(range(2), 8) > 1e20).all()
    fewest = statement.rounds_needed(range(2), 2)
    assert (fewest > 1e5).all()
    assert (fewest < 1e8).all()
