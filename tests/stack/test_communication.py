"""Graphs by name, a seed each, and the matrices that runs mix by."""

import numpy as np
import pytest

from pfedrl.stack.communication import graph_of, mixing_matrices, spectral_gaps
from pfedrl.stack.graphs import fully_connected, is_connected, ring, star

NAMES = ("ring", "random", "fully_connected", "star")


def test_names_are_the_graphs():
    for name, made in (("ring", ring), ("fully_connected", fully_connected), ("star", star)):
        np.testing.assert_array_equal(graph_of(name, 7, 3), made(7))


def test_a_random_graph_is_its_seeds_connected_and_has_a_quarter_of_the_edges():
    graphs = [graph_of("random", 32, seed) for seed in range(20)]
    assert all(is_connected(graph) for graph in graphs)
    np.testing.assert_array_equal(graphs[4], graph_of("random", 32, 4))
    assert (graphs[0] != graphs[1]).any()
    assert np.mean([graph.sum() for graph in graphs]) / (32 * 31) == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_metropolis_matrices_are_doubly_stochastic_and_uniform_ones_row_stochastic(name):
    doubly, rows = (mixing_matrices(name, w, 9, range(3)) for w in ("metropolis", "uniform"))
    assert doubly.shape == rows.shape == (3, 9, 9)
    np.testing.assert_allclose(doubly.sum(axis=1), 1)
    np.testing.assert_allclose(doubly.sum(axis=2), 1)
    np.testing.assert_allclose(rows.sum(axis=2), 1)
    np.testing.assert_array_equal(doubly[1:2], mixing_matrices(name, "metropolis", 9, [1]))


def test_denser_graphs_have_larger_gaps():
    gaps = {n: spectral_gaps(mixing_matrices(n, "metropolis", 32, range(2))) for n in NAMES}
    assert (gaps["ring"] < gaps["random"]).all()
    assert (gaps["random"] < gaps["fully_connected"]).all()
    np.testing.assert_allclose(gaps["fully_connected"], 1)
