"""Averages in two layers."""

import numpy as np
import pytest
import torch

from pfedrl.stack.mixing import ServerAverage
from pfedrl.stack.regions import Regions
from pfedrl.stack.selection import KOfN

SHAPE = (2, 6, 3)
PART = np.random.default_rng(0).standard_normal(SHAPE)


def by_hand(part, regions, chosen, weights):
    """A loop over seeds and regions; an agent whose region sent nothing keeps its own."""
    found = part.copy()
    for seed in range(part.shape[0]):
        for group in np.array_split(np.arange(part.shape[1]), regions):
            own = [agent for agent in group if agent in chosen[seed]]
            if own:
                found[seed, group] = np.average(part[seed, own], axis=0, weights=weights[own])
    return found


@pytest.mark.parametrize("count", [2, 6])
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 7.0)])
def test_a_region_receives_the_average_of_those_of_it_who_were_selected(count, weights):
    selection = KOfN(range(2), 6, count)
    mixing = Regions(ServerAverage(selection, weights), 3, rarely=10)
    plain = np.ones(6) if weights is None else weights
    for round in range(4):
        expected = by_hand(PART, 3, selection(round), plain)
        np.testing.assert_allclose(mixing(PART, round), expected, atol=1e-12)
        in_torch = mixing(torch.from_numpy(PART), round)
        np.testing.assert_allclose(in_torch.numpy(), expected, atol=1e-12)


def test_all_meet_in_every_so_many_rounds_and_then_it_is_the_plain_average():
    mixing, plain = Regions(ServerAverage(), 2, rarely=3), ServerAverage()
    agree = [np.ptp(np.broadcast_to(mixing(PART, r), SHAPE), axis=1).max() == 0 for r in range(6)]
    assert agree == [False, False, True, False, False, True]
    np.testing.assert_array_equal(mixing(PART, 2), plain(PART, 2))


def test_an_agent_that_is_a_region_by_itself_keeps_its_own_and_sends_nothing():
    mixing = Regions(ServerAverage(), 6, rarely=3)
    np.testing.assert_array_equal(mixing(PART, 0), PART)
    assert mixing.receivers((2, 6), 0).sum() == 0
    assert mixing.receivers((2, 6), 2).sum() == 12
