"""Measures of returns and nets, by hand."""

import numpy as np

from pfedrl.algorithms.measures import cosines, episodes_to, return_summaries, training_curve


def test_a_curve_is_the_mean_of_the_last_nine_at_a_hundred_points_or_more():
    returns = np.arange(450.0).reshape(1, 1, 450)
    curve = dict(training_curve(returns, 450))
    assert list(curve)[:2] == [4, 8] and len(curve) == 112
    assert curve[4] == 1.5 and curve[448] == 443


def test_summaries_are_over_episodes():
    found = return_summaries(np.array([[[1.0, 2.0, 6.0]]]))
    assert {name: values.item() for name, values in found.items()} == {
        "return_average": 3, "return_median": 2, "return_variance": 14 / 3,
        "return_deviation": np.sqrt(14 / 3),
    }  # fmt: skip


def test_a_level_is_reached_by_the_agents_mean_over_a_window():
    returns = np.stack([np.tile(np.arange(6.0), (2, 1)), np.zeros((2, 6)), np.full((2, 6), 9.0)])
    returns[2, 1, 5] = np.nan
    first, reached = episodes_to(returns, 2.5, window=2)
    np.testing.assert_array_equal(first, [4, 6, np.nan])  # episodes 2 and 3 have the mean 2.5
    np.testing.assert_array_equal(reached, [True, False, True])


def test_cosines_of_known_angles_and_of_nothing():
    found = cosines(np.array([[[1.0, 0.0], [2.0, 2.0], [0.0, 0.0]]]))
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found[0], [[1, half, 0], [half, 1, 0], [0, 0, 0]])
