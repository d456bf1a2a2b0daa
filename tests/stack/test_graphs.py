"""Graphs and their matrices: stochastic, mean-preserving, and as fast as their gap says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.stack.graphs import (
    fully_connected,
    is_connected,
    metropolis_weights,
    random_connected,
    ring,
    spectral_gap,
    star,
    uniform_weights,
)
from pfedrl.stack.mixing import NeighbourAverage


@given(st.integers(2, 9), st.integers(0, 10**6))
@settings(max_examples=50)
def test_metropolis_weights_are_doubly_stochastic_and_keep_the_mean(agents, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((agents, agents)) < 0.5, 1)
    graph = upper | upper.T
    weights = metropolis_weights(graph)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    np.testing.assert_allclose(weights, weights.T)
    assert ((weights > 0) <= (graph | np.eye(agents, dtype=bool))).all()
    part = rng.normal(size=(2, agents, 3))
    mixed = NeighbourAverage(weights)(part, 0)
    np.testing.assert_allclose(mixed.mean(axis=1), part.mean(axis=1), atol=1e-12)


@given(st.integers(1, 9), st.floats(0.2, 1.0), st.integers(0, 10**6))
@settings(max_examples=50)
def test_random_graphs_are_connected_symmetric_and_without_loops(agents, chance, seed):
    graph = random_connected(agents, chance, np.random.default_rng(seed))
    np.testing.assert_array_equal(graph, graph.T)
    assert not graph.diagonal().any()
    # as many steps as agents lead everywhere
    assert (np.linalg.matrix_power(graph + np.eye(agents), agents) > 0).all()


def test_neighbours_by_hand():
    np.testing.assert_array_equal(ring(4).sum(axis=1), 2)
    assert ring(5)[0].nonzero()[0].tolist() == [1, 4]
    assert ring(2).tolist() == [[False, True], [True, False]]
    assert ring(1).tolist() == [[False]]
    assert star(4).sum(axis=1).tolist() == [3, 1, 1, 1]
    np.testing.assert_array_equal(fully_connected(4).sum(axis=1), 3)


def test_two_pairs_are_not_connected():
    pairs = np.kron(np.eye(2), ring(2)).astype(bool)
    assert not is_connected(pairs)
    assert spectral_gap(metropolis_weights(pairs)) == pytest.approx(0.0, abs=1e-12)


def test_uniform_weights_are_row_stochastic_and_on_a_star_nothing_more():
    weights = uniform_weights(star(5))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights[0], 1 / 5)
    np.testing.assert_allclose(weights[1], [1 / 2, 1 / 2, 0, 0, 0])
    assert abs(weights.sum(axis=0)[0] - 1.0) > 0.5


def test_spectral_gaps_in_closed_form():
    """All agents at once in one round; on a ring 1 - (1 + 2 cos(2 pi / N)) / 3."""
    assert spectral_gap(metropolis_weights(fully_connected(6))) == pytest.approx(1.0)
    for agents in (4, 6, 9):
        expected = 1 - (1 + 2 * np.cos(2 * np.pi / agents)) / 3
        assert spectral_gap(metropolis_weights(ring(agents))) == pytest.approx(expected)


def test_the_consensus_error_falls_as_the_gap_says():
    matrix = metropolis_weights(ring(6))
    error = np.random.default_rng(5).normal(size=(1, 6, 1))
    error -= error.mean(axis=1, keepdims=True)
    mixed = error
    for number in range(10):
        mixed = NeighbourAverage(matrix)(mixed, number)
    assert np.linalg.norm(mixed) <= (1 - spectral_gap(matrix)) ** 10 * np.linalg.norm(error) + 1e-12


def test_graphs_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="undirected"):
        metropolis_weights(np.array([[False, True], [False, False]]))
    with pytest.raises(ValueError, match="chance of 0"):
        random_connected(3, 0, np.random.default_rng(0))
