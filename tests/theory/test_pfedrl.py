"""PFedRL-Rep's statements: the expected update, where it rests, what PFedTD-Rep makes of it."""

import numpy as np
import pytest

from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.envs.tabular.chain import chain
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl_lemma410 import Lemma410
from pfedrl.theory.pfedrl_theorem413 import Theorem413

PROOF = {"alpha": 1.0, "alpha_power": 5 / 6, "beta": 2.0, "beta_power": 1.0}


@pytest.fixture(scope="module")
def walk():
    family = RandomMDP(states=6, actions=2, agents=1, gamma=0.8, support=0.9)
    return chain(family.task(family.draw(range(5))))


def test_y_of_phi_makes_the_expected_g_vanish(walk):
    field, features = MeanField.of(walk), unit_rows(range(5), 6, 3)
    weights = field.weights(features)
    errors = field.errors(features, weights)
    expected = np.einsum("xis,xis,xsd->xid", field.stationary, errors, features)
    np.testing.assert_allclose(expected, 0.0, atol=1e-12)


def test_with_one_feature_a_state_y_of_phi_is_the_value(walk):
    field = MeanField.of(walk)
    table = np.broadcast_to(np.eye(6), (5, 6, 6))
    np.testing.assert_allclose(field.weights(table), walk.values(), rtol=1e-10)


def test_at_a_rest_point_the_values_are_true_and_rows_have_unit_norm(walk):
    field = MeanField.of(walk)
    rest = field.rest_point(unit_rows(range(5), 6, 3))
    np.testing.assert_allclose(np.linalg.norm(rest, axis=-1), 1.0)
    value = np.einsum("xsd,xid->xis", rest, field.weights(rest))
    np.testing.assert_allclose(value, walk.values(), atol=1e-6)


def test_a_rotated_rest_point_is_a_rest_point(walk):
    field = MeanField.of(walk)
    rest = field.rest_point(unit_rows(range(5), 6, 3))
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    turned = rest @ turn
    np.testing.assert_allclose(field.errors(turned, field.weights(turned)), 0.0, atol=1e-6)
    assert np.abs(turned - rest).max() > 0.1


def test_lemma_4_10_fails_for_features_and_the_counterexample_survives_a_plain_recheck():
    metrics = Lemma410().check(range(200))
    seed = int(np.argmin(metrics["margin"]))
    assert metrics["margin"][seed] < -1e-3
    assert (metrics["weights_margin"] > 0).all()
    found = Lemma410().instance(seed)
    P, r = np.array(found["moves"]), np.array(found["rewards"])
    Phi, optimum = np.array(found["features"]), np.array(found["optimum"])
    mu = np.linalg.matrix_power(P, 5000)[0]
    D = np.diag(mu)
    theta = np.linalg.solve(Phi.T @ D @ (np.eye(8) - 0.8 * P) @ Phi, Phi.T @ D @ r)
    delta = r + 0.8 * P @ Phi @ theta - Phi @ theta
    h = (mu * delta)[:, None] * theta
    assert ((Phi - optimum) * h).sum() > 0, "the update points away from Phi*"
    # and Phi* is an optimum: its values solve the Bellman equation
    best = np.linalg.solve(optimum.T @ D @ (np.eye(8) - 0.8 * P) @ optimum, optimum.T @ D @ r)
    np.testing.assert_allclose(r + 0.8 * P @ optimum @ best, optimum @ best, atol=1e-6)


def test_steps_shrink_with_agents_by_the_powers_that_are_asked_for():
    statement = Theorem413(**PROOF, alpha_shrink=1 / 3, beta_shrink=2 / 3)
    algorithm = statement.algorithm(8)
    assert algorithm.alpha == pytest.approx(0.5)
    assert algorithm.beta == pytest.approx(0.5)


def test_bound_16_by_hand_for_one_agent():
    """K = 1, delta negligible: C_1 = 4 a b L^2 B^2 + 2 a^2 (3 B^2 + 2 L^2 B^2), C_2 = 4 L^2 a b."""
    statement = Theorem413(**PROOF, local_steps=1, iterations=998, largest_norm=2.0)
    features, weights = np.array([0.5]), np.array([0.3])
    a, b, B, L = 1.0, 2.0, 2.0, 3.6 * 2.0
    first = 4 * a * b * L**2 * B**2 + 2 * a**2 * (3 * B**2 + 2 * L**2 * B**2)
    second = 4 * L**2 * a * b * (0.5 + 0.3 / (b * 2 ** (5 / 6) / a))
    want = 0.8 / 1000**2 + (first + second) / 1000 ** (2 / 3)
    got = statement.bound([0], 1, features, weights)
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_theorem_4_13_breaks_where_its_constants_allow_steps_too_small_to_move():
    statement = Theorem413(alpha=6.8e-5, alpha_power=5 / 6, beta=1e-5, beta_power=1.0,
                           agents=(1,), iterations=2000)  # fmt: skip
    L = (2 + 2 * statement.gamma) * statement.largest_norm
    assert statement.alpha <= 1 / (2 * L * np.sqrt(2 * (1 + L**2)))
    assert (statement.check(range(3))["bound_margin"] < 0).all()
