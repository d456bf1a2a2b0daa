"""The exchange: what is shared, how it is mixed, what is counted; on NumPy and torch alike."""

import numpy as np
import pytest
import torch

from pfedrl.core.errors import PfedrlError
from pfedrl.stack.by_visits import ByVisits, importance
from pfedrl.stack.exchange import SharedParts, never, server_average
from pfedrl.stack.graphs import metropolis_weights, ring, star
from pfedrl.stack.mixing import NeighbourAverage, ServerAverage
from pfedrl.stack.selection import KOfN


def stack(seed=0, shape=(2, 4, 3)):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_server_average_reaches_everyone():
    parts = {"table": stack()}
    expected = parts["table"].mean(axis=1, keepdims=True)
    server_average(every=5)(parts, 0)
    np.testing.assert_allclose(parts["table"], np.broadcast_to(expected, (2, 4, 3)))


def test_private_parts_stay():
    parts = {"body.weight": stack(1), "head.weight": stack(2), "embedding": stack(3)}
    before = {name: part.copy() for name, part in parts.items()}
    server_average(every=1, shares=("body.*",))(parts, 0)
    assert not np.allclose(parts["body.weight"], before["body.weight"])
    np.testing.assert_array_equal(parts["head.weight"], before["head.weight"])
    np.testing.assert_array_equal(parts["embedding"], before["embedding"])


def test_agents_that_never_meet_keep_everything_and_send_nothing():
    parts = {"table": stack()}
    before = parts["table"].copy()
    for exchange in (never(), server_average(every=float("inf"))):
        np.testing.assert_array_equal(exchange(parts, 0), np.zeros((2, 4)))
        assert exchange.steps == 1
    assert never(7).steps == 7
    np.testing.assert_array_equal(parts["table"], before)


def test_sharing_what_does_not_exist_is_refused():
    with pytest.raises(PfedrlError, match=r"no part matches bodi\.\*"):
        server_average(every=1, shares=("bodi.*",))({"body.weight": stack()}, 0)


@pytest.mark.parametrize("weights", [np.array([1.0, 2, 3, 4]), np.array([[1.0, 0, 0, 0]] * 2)])
def test_weighted_average(weights):
    part = stack()
    normal = np.broadcast_to(weights / weights.sum(axis=-1, keepdims=True), (2, 4))
    expected = np.einsum("sj,sjx->sx", normal, part)[:, None]
    np.testing.assert_allclose(ServerAverage(weights=weights)(part, 0), expected, atol=1e-12)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2, 3, 4, 5])])
def test_those_selected_are_averaged_and_everyone_receives_it(weights):
    selection, part = KOfN([3, 8], 5, 2), stack(6, (2, 5, 3))
    parts = {"model": part.copy()}
    sent = SharedParts(("model",), ServerAverage(selection, weights), 1)(parts, 4)
    for seed, chosen in enumerate(selection(4)):
        own = None if weights is None else weights[chosen]
        expected = np.average(part[seed, chosen], axis=0, weights=own)
        np.testing.assert_allclose(parts["model"][seed], np.tile(expected, (5, 1)), atol=1e-12)
        assert set(np.flatnonzero(sent[seed])) == set(chosen)


def test_torch_stacks_are_mixed_like_numpys():
    part = stack(4, (2, 4, 3, 5))
    selection = KOfN([0, 1], 4, 3)
    for mixing in (
        ServerAverage(),
        ServerAverage(weights=np.array([1.0, 2, 3, 4])),
        ServerAverage(selection),
        NeighbourAverage(metropolis_weights(ring(4))),
    ):
        parts = {"weight": torch.tensor(part)}
        SharedParts(("weight",), mixing, every=1)(parts, 0)
        expected = np.broadcast_to(mixing(part, 0), part.shape)
        np.testing.assert_allclose(parts["weight"].numpy(), expected, atol=1e-12)


def test_bytes_by_hand():
    """Three numbers of 8 bytes and two of 4 are shared, a private part is not."""
    parts = {"a": stack(), "b": torch.zeros(2, 4, 2), "private": stack(1)}
    each = 3 * 8 + 2 * 4
    shares = ("a", "b")
    to_the_server = SharedParts(shares, ServerAverage(), 1)(parts, 0)
    np.testing.assert_array_equal(to_the_server, np.full((2, 4), each))
    on_a_ring = SharedParts(shares, NeighbourAverage(metropolis_weights(ring(4))), 1)(parts, 0)
    np.testing.assert_array_equal(on_a_ring, np.full((2, 4), 2 * each))
    on_a_star = SharedParts(shares, NeighbourAverage(metropolis_weights(star(4))), 1)(parts, 0)
    np.testing.assert_array_equal(on_a_star, [[3 * each, each, each, each]] * 2)


def test_who_receives_is_who_weighs_the_sender():
    """Agent 1 listens to agent 0, and nobody to agent 1: only agent 0 sends."""
    one_way = NeighbourAverage(np.array([[1.0, 0.0], [0.5, 0.5]]))
    sent = SharedParts(("a",), one_way, 1)({"a": stack(0, (1, 2, 3))}, 0)
    np.testing.assert_array_equal(sent, [[24, 0]])


def test_a_matrix_that_is_not_stochastic_is_refused():
    wrong = np.array([[0.5, 0.4], [0.5, 0.5]])
    with pytest.raises(ValueError, match="sum to 1"):
        NeighbourAverage(wrong)
    with pytest.raises(ValueError, match="sum to 1"):
        NeighbourAverage(lambda number: wrong)(stack(0, (1, 2, 3)), 0)


def test_visits_weigh_by_entry_travel_with_the_table_and_are_cleared():
    eta = 0.5
    parts = {
        "table": np.array([[[4.0, 1.0], [0.0, 5.0]]]),
        "visits": np.array([[[2.0, 0], [0, 0]]]),
    }
    sent = ByVisits(eta)(parts, 0)
    # weights 4 : 1 where agent 0 was twice, 1 : 1 where nobody was
    np.testing.assert_allclose(parts["table"], [[[3.2, 3.0], [3.2, 3.0]]])
    np.testing.assert_array_equal(parts["visits"], 0)
    np.testing.assert_array_equal(sent, [[32, 32]])
    np.testing.assert_allclose(importance(np.array([[[2.0], [0.0]]]), eta), [[[1.0], [0.25]]])
