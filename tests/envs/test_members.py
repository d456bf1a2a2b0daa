"""Members are listed, drawn, or lie evenly in their range."""

import numpy as np

from pfedrl.envs.classic.cartpole import CartPole

RANGE = {"agents": 4, "low": 0.02, "high": 0.04, "cap": 30}


def test_even_members_are_the_papers():
    """PFedRL-Rep's legs: 0.02 + 0.001 i, of agents 1 to 20."""
    numbers = CartPole(**RANGE | {"agents": 20}, spread=0.02).draw([0, 7])["training"]
    np.testing.assert_allclose(numbers, np.tile(0.02 + 0.001 * np.arange(1, 21), (2, 1)))


def test_without_a_spread_all_members_are_one():
    numbers = CartPole(**RANGE, spread=0.0).draw([0])["training"]
    np.testing.assert_array_equal(numbers, 0.02)


def test_listed_members_come_first_and_drawn_ones_depend_on_the_seed_alone():
    listed = CartPole(**RANGE, members=[0.1, 0.2], spread=0.02).draw([0])["training"]
    np.testing.assert_array_equal(listed, [[0.1, 0.2, 0.1, 0.2]])
    drawn = CartPole(**RANGE)
    np.testing.assert_array_equal(drawn.draw([3])["training"], drawn.draw([2, 3])["training"][1:])
    assert (drawn.draw([3])["training"] != drawn.draw([2])["training"]).all()
