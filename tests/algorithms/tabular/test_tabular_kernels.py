"""The compiled kernels against closed forms, plain linear algebra and an independent loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.algorithms.tabular import kernels
from tests.plain import tabular as plain


def random_task(seed, states=5, actions=3, members=2, seeds=70, moves=None):
    """Dense or sparse transitions with more seeds than a tile holds, and one tile incomplete."""
    rng = np.random.default_rng(seed)
    moves = moves or states
    successors = np.stack([rng.permutation(states)[:moves] for _ in range(states * actions)])
    chance = rng.random((members, states * actions, moves, seeds)) + 1e-3
    chance /= chance.sum(axis=2, keepdims=True)
    reward = rng.normal(size=(states * actions, seeds))
    return successors, chance.reshape(members, -1, seeds), reward, rng


def dense(successors, chance, states, actions, member, seed):
    moves = successors.shape[1]
    matrix = np.zeros((states * actions, states))
    rows = chance[member, :, seed].reshape(-1, moves)
    np.add.at(matrix, (np.arange(states * actions)[:, None], successors), rows)
    return matrix.reshape(states, actions, states)


@pytest.mark.parametrize("moves", [None, 2])
def test_policy_values_solve_the_bellman_equation(moves):
    states, actions, gamma = 5, 3, 0.9
    successors, chance, reward, rng = random_task(0, moves=moves)
    policy = rng.random((states, actions, 70))
    policy /= policy.sum(axis=1, keepdims=True)
    values = kernels.policy_values(
        policy.reshape(-1, 70), reward, chance, successors, actions, gamma
    )
    for member in range(2):
        for seed in (0, 63, 64, 69):
            step = dense(successors, chance, states, actions, member, seed)
            problem = plain.Problem(step[None], reward[:, seed].reshape(5, 3), np.ones(5), gamma)
            expected = plain.policy_value(problem, step, policy[..., seed])
            np.testing.assert_allclose(values[member, :, seed], expected, rtol=1e-11, atol=1e-11)


def test_optimal_tables_satisfy_the_optimality_equation():
    states, actions, gamma = 5, 3, 0.9
    successors, chance, reward, _ = random_task(1)
    tables = kernels.optimal_tables(reward, chance, successors, actions, gamma, 1e-10)
    for member in range(2):
        for seed in range(70):
            step = dense(successors, chance, states, actions, member, seed)
            q = tables[member, :, seed].reshape(states, actions)
            backup = reward[:, seed].reshape(states, actions) + gamma * step @ q.max(axis=1)
            np.testing.assert_allclose(q, backup, atol=1e-9)


def test_one_state_has_the_geometric_series_as_value():
    reward = np.array([[1.0, 2.0], [3.0, 1.0]])  # two actions, two seeds
    chance = np.ones((1, 2, 2))
    successors = np.zeros((2, 1), dtype=np.int64)
    tables = kernels.optimal_tables(reward, chance, successors, 2, 0.75, 1e-12)
    np.testing.assert_allclose(tables[0].max(axis=0), [3 / 0.25, 2 / 0.25])


def test_damped_tables_converge_to_the_optimum():
    successors, chance, reward, _ = random_task(2)
    tables = np.zeros((2, *reward.shape))
    kernels.damped_tables(tables, reward, chance, successors, 3, 0.9, np.full((600, 70), 0.7))
    best = kernels.optimal_tables(reward, chance, successors, 3, 0.9, 1e-12)
    np.testing.assert_allclose(tables, best, atol=1e-9)


def test_bandwidth_is_that_of_the_grid(tabular_family):
    assert kernels._bandwidth(tabular_family("windy_cliff").successors(), 4) == 4
    assert kernels._bandwidth(tabular_family("random_mdp").successors(), 5) == 4


@given(st.integers(0, 10**6), st.floats(0.1, 200.0))
@settings(max_examples=40)
def test_softmax_is_numpys(seed, spread):
    logits = np.random.default_rng(seed).normal(size=(12, 3)) * spread
    expected = np.stack([plain.softmax(logits[:, k].reshape(3, 4)) for k in range(3)], axis=-1)
    found = kernels.softmax(logits, 4).reshape(3, 4, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-300)


@given(st.integers(0, 10**6), st.floats(0.01, 50.0))
@settings(max_examples=60)
def test_projection_is_the_nearest_point_of_the_simplex(seed, spread):
    """Equal to the sorting algorithm, and the variational inequality of a projection holds."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4, 5)) * spread
    lanes = kernels.LANES
    found = np.repeat(rows.reshape(-1, 1), lanes, axis=1)
    kernels._project(found, 5, np.empty(lanes), np.empty(lanes), np.empty(lanes))
    assert (found == found[:, :1]).all()
    projected = found[:, 0].reshape(4, 5)
    np.testing.assert_allclose(projected, plain.project(rows), atol=1e-12 * max(spread, 1))
    for vertex in np.eye(5):  # <x - p, v - p> <= 0 for every vertex v
        assert ((rows - projected) * (vertex - projected)).sum(axis=1).max() <= 1e-9 * spread**2


def test_greedy_takes_the_first_of_the_best():
    q = np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    assert kernels.greedy(q, 3).T.tolist() == [[0, 1, 0], [1, 0, 0]]


def test_projected_gradient_is_the_gradient_of_the_value():
    """d^pi(s) Q^pi(s,a) / (1-gamma) by central differences of V^pi(d0), off the simplex."""
    states, actions, gamma = 4, 3, 0.8
    successors, chance, reward, rng = random_task(3, states=states, members=1, seeds=1)
    start = rng.dirichlet(np.ones(states))
    policy = rng.dirichlet(np.ones(actions) * 5, size=states).reshape(-1, 1)

    def value(table):
        values = kernels.policy_values(table, reward, chance, successors, actions, gamma)
        return float(values[0, :, 0] @ start)

    eta = 1e-6  # small enough for the projection to only remove the mean of each row
    stepped = policy[None].copy()
    kernels.projected_gradient(
        stepped, reward, chance, successors, actions, gamma, start, np.full((1, 1), eta)
    )
    found = ((stepped[0] - policy) / eta).reshape(states, actions)
    numeric = np.empty(states * actions)
    for row in range(states * actions):
        shift = np.zeros_like(policy)
        shift[row] = 1e-6
        numeric[row] = (value(policy + shift) - value(policy - shift)) / 2e-6
    numeric = numeric.reshape(states, actions)
    centred = numeric - numeric.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, centred, rtol=1e-4, atol=1e-5)
