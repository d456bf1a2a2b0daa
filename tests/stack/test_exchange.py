"""Selection, mixing and schedule, on NumPy and torch stacks alike."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.core.errors import PfedrlError
from pfedrl.stack.exchange import Exchange, never, server_average
from pfedrl.stack.mixing import Graph, ServerAverage, metropolis_weights


def stack(seed=0, shape=(2, 4, 3)):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_server_average_reaches_everyone():
    parts = {"table": stack()}
    expected = parts["table"].mean(axis=1, keepdims=True)
    server_average(every=5)(parts)
    np.testing.assert_allclose(parts["table"], np.broadcast_to(expected, (2, 4, 3)))


def test_private_parts_stay():
    parts = {"body.weight": stack(1), "head.weight": stack(2), "embedding": stack(3)}
    before = {name: part.copy() for name, part in parts.items()}
    server_average(every=1, shares=("body.*",))(parts)
    assert not np.allclose(parts["body.weight"], before["body.weight"])
    np.testing.assert_array_equal(parts["head.weight"], before["head.weight"])
    np.testing.assert_array_equal(parts["embedding"], before["embedding"])


def test_agents_that_never_meet_keep_everything():
    parts = {"table": stack()}
    before = parts["table"].copy()
    for exchange in (never(), server_average(every=float("inf"))):
        exchange(parts)
        assert exchange.steps == 1
    np.testing.assert_array_equal(parts["table"], before)


def test_sharing_what_does_not_exist_is_refused():
    with pytest.raises(PfedrlError, match=r"no part matches bodi\.\*"):
        server_average(every=1, shares=("bodi.*",))({"body.weight": stack()})


@pytest.mark.parametrize("weights", [np.array([1.0, 2, 3, 4]), np.array([[1.0, 0, 0, 0]] * 2)])
def test_weighted_average(weights):
    part = stack()
    normal = np.broadcast_to(weights / weights.sum(axis=-1, keepdims=True), (2, 4))
    expected = np.einsum("sj,sjx->sx", normal, part)[:, None]
    np.testing.assert_allclose(
        ServerAverage(weights)(part), np.broadcast_to(expected, part.shape), atol=1e-12
    )


def test_torch_stacks_are_mixed_like_numpys():
    part = stack(4, (2, 4, 3, 5))
    ring = metropolis_weights(np.roll(np.eye(4), 1, 0) + np.roll(np.eye(4), -1, 0))
    for mixing in (ServerAverage(), ServerAverage(np.array([1.0, 2, 3, 4])), Graph(ring)):
        parts = {"weight": torch.tensor(part)}
        Exchange(shares=("weight",), mixing=mixing, every=1)(parts)
        expected = np.broadcast_to(mixing(part), part.shape)
        np.testing.assert_allclose(parts["weight"].numpy(), expected, atol=1e-12)


@given(st.integers(2, 9), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_metropolis_weights_are_doubly_stochastic(agents, seed):
    upper = np.triu(np.random.default_rng(seed).random((agents, agents)) < 0.5, 1)
    adjacency = upper | upper.T
    weights = metropolis_weights(adjacency)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    np.testing.assert_allclose(weights, weights.T)
    assert ((weights > 0) <= (adjacency | np.eye(agents, dtype=bool))).all()


def test_mixing_on_a_connected_graph_reaches_the_average():
    """The ring's second eigenvalue is known: consensus error falls by it every round."""
    agents = 6
    ring = metropolis_weights(np.roll(np.eye(agents), 1, 0) + np.roll(np.eye(agents), -1, 0))
    second = (1 + 2 * np.cos(2 * np.pi / agents)) / 3
    part = stack(5, (1, agents, 1))
    error = part - part.mean(axis=1, keepdims=True)
    mixed = error
    for _ in range(10):
        mixed = Graph(ring)(mixed)
    assert np.linalg.norm(mixed) <= second**10 * np.linalg.norm(error) + 1e-12


def test_a_matrix_that_is_not_stochastic_is_refused():
    with pytest.raises(ValueError, match="sum to 1"):
        Graph(np.array([[0.5, 0.4], [0.5, 0.5]]))
