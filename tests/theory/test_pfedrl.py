"""PFedRL-Rep's statements: the expected update, where it rests, what PFedTD-Rep makes of it."""

import numpy as np
import pytest

from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.envs.tabular.chain import chain
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl import lipschitz_g, lipschitz_h, near_rank_one
from pfedrl.theory.pfedrl_lemma46 import Lemma46
from pfedrl.theory.pfedrl_lemma47 import Lemma47
from pfedrl.theory.pfedrl_lemma48 import Lemma48
from pfedrl.theory.pfedrl_lemma410 import Lemma410, weights_omega
from pfedrl.theory.pfedrl_lemma412 import Lemma412
from pfedrl.theory.pfedrl_theorem413 import Theorem413

PROOF = {"alpha": 1.0, "alpha_power": 5 / 6, "beta": 2.0, "beta_power": 1.0}
OWN = {"alpha": 6.8e-7, "alpha_power": 5 / 6, "beta": 1e-5, "beta_power": 5 / 6}


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


def test_lemma_4_10_fails_on_every_chain_in_both_halves_and_drawn_features_hide_one():
    metrics = Lemma410().check(range(100))
    assert (metrics["features_margin"] < -0.99).all(), "h is zero at a rotated optimum"
    assert (metrics["weights_margin"] < -0.99).all(), "no omega is left near rank one"
    assert (metrics["drawn_weights"] > 1e-3).all(), "one drawn Phi does not show it"
    assert (metrics["drawn_features"] < -1e-3).any(), "the update can even point away"


def test_the_weights_omega_falls_with_the_square_of_the_distance_from_rank_one(walk):
    field, features = MeanField.of(walk), unit_rows(range(5), 6, 3)
    near, nearer = (weights_omega(field, near_rank_one(features, a)) for a in (1e-2, 1e-3))
    np.testing.assert_allclose(near / nearer, 100.0, rtol=0.2)


def test_the_ratio_of_lemma_4_8_grows_without_bound_towards_rank_one():
    ratios = []
    for apart in (1e-3, 1e-4, 1e-5):
        statement = Lemma48(apart=apart)
        ratios.append(statement.ratio(range(20), statement.pair(range(20))))
    np.testing.assert_allclose(ratios[1] / ratios[0], 10.0, rtol=0.2)
    np.testing.assert_allclose(ratios[2] / ratios[1], 10.0, rtol=0.2)


def test_the_proofs_lipschitz_constants_by_hand():
    assert lipschitz_g(0.8, 20.0) == pytest.approx(72.0)
    assert lipschitz_h(0.8, 20.0) == pytest.approx(720.0)
    assert lipschitz_h(0.8, 1.0) == pytest.approx(3.6)


def test_lemmas_4_6_and_4_7_hold_for_a_large_norm_and_fail_by_the_reward_for_a_small_one():
    """Built by hand: the largest ratios are 1 + (1+gamma) B for g and 1 + 2 (1+gamma) B for h."""
    assert (Lemma46().check(range(20))["margin"] > 0).all()
    assert (Lemma47().check(range(20))["margin"] > 0).all()
    small = Lemma46(largest_norm=0.5).check(range(5))["margin"]
    np.testing.assert_allclose(small, 1.8 - 1.9, atol=1e-6)
    small = Lemma47(largest_norm=1.0).check(range(5))["margin"]
    np.testing.assert_allclose(small, 3.6 - 4.6, atol=1e-3)


def test_lemma_4_12_on_a_chain_of_two_states_by_hand():
    """P(s_k = s | s_1) - mu(s) falls by the second eigenvalue in each step."""
    statement = Lemma412(states=2, dimension=2)
    moves = np.array([[0.9, 0.1], [0.3, 0.7]])
    away = statement.away(moves, np.array([0.75, 0.25]))
    np.testing.assert_allclose(away[0], [[0.25, -0.25], [-0.75, 0.75]])
    np.testing.assert_allclose(away[3], away[0] * 0.6**3)


def test_lemma_4_12_holds_where_it_was_tried():
    metrics = Lemma412().check(range(20))
    assert (metrics["margin"] > 0).all()
    assert (metrics["vanishing"] > 0).all()


@pytest.mark.parametrize(
    "statement", [Lemma46(), Lemma47(), Lemma48(), Lemma410(), Lemma412()], ids=lambda s: s.label
)
def test_a_seed_is_one_instance_in_any_block(statement):
    together, alone = statement.check(range(3, 6)), statement.check([4])
    for metric, values in together.items():
        assert values.shape == (3,)
        np.testing.assert_allclose(values[1], alone[metric][0], rtol=1e-6, atol=1e-9)


def test_steps_shrink_with_agents_by_the_powers_that_are_asked_for():
    statement = Theorem413(**PROOF, alpha_shrink=1 / 3, beta_shrink=2 / 3)
    algorithm = statement.algorithm(8)
    assert algorithm.alpha == pytest.approx(0.5)
    assert algorithm.beta == pytest.approx(0.5)


def test_bound_16_by_hand_for_one_agent():
    """K = 1, delta negligible: C_1 = 4 a b L^2 B^2 + 2 a^2 (3 B^2 + 2 L^2 B^2), C_2 = 4 L^2 a b."""
    statement = Theorem413(**PROOF, local_steps=1, iterations=998, largest_norm=2.0)
    features, weights = np.array([0.5]), np.array([0.3])
    a, b, B, L = 1.0, 2.0, 2.0, 1.8 * 2.0**2
    first = 4 * a * b * L**2 * B**2 + 2 * a**2 * (3 * B**2 + 2 * L**2 * B**2)
    second = 4 * L**2 * a * b * (0.5 + 0.3 / (b * 2 ** (5 / 6) / a))
    want = 0.8 / 1000**2 + (first + second) / 1000 ** (2 / 3)
    got = statement.bound([0], 1, features, weights)
    np.testing.assert_allclose(got, want, rtol=1e-4)


@pytest.mark.parametrize("beta_power", [5 / 6, 1.0], ids=["printed", "proof"])
def test_theorem_4_13_breaks_where_its_constants_allow_steps_too_small_to_move(beta_power):
    statement = Theorem413(**{**OWN, "beta_power": beta_power}, agents=(1,), iterations=2000)
    metrics = statement.check(range(3))
    assert (metrics["applies"] == 1).all()
    assert (metrics["bound_margin"] < 0).all()


@pytest.mark.parametrize(
    "outside",
    [{"alpha": 7e-7}, {"beta": 1.0}, {"alpha_power": 1.0}, {"beta_power": 0.5}, {"gamma": 0.99}],
    ids=str,
)
def test_theorem_4_13_applies_to_no_other_rates(outside):
    assert (Theorem413(**OWN).applies(range(3)) == 1).all()
    assert (Theorem413(**{**OWN, **outside}).applies(range(3)) == 0).all()
