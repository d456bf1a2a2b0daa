import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pfedrl.analysis import statistics

numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)
samples = arrays(np.float64, st.integers(2, 40), elements=numbers)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@given(samples)
def test_standard_error_is_scipys(values):
    expected = stats.sem(values)
    assert statistics.standard_error(values) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.floats(-3, 3), st.floats(0.1, 10))
def test_exponents_of_a_power_law_are_its_own(power, factor):
    at = np.array([2.0, 4.0, 6.0, 10.0])
    values = factor * at[:, None] ** np.array([power, 0.0])
    np.testing.assert_allclose(statistics.exponents(at, values), [power, 0.0], atol=1e-9)


def test_one_seed_has_no_standard_error():
    assert np.isnan(statistics.standard_error(np.array([3.0])))


@given(samples)
def test_interquartile_mean_is_scipys_trimmed_mean(values):
    expected = stats.trim_mean(values, 0.25)
    assert statistics.interquartile_mean(values) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_bootstrap_interquartile_mean_agrees_with_resampling_one_by_one():
    values = np.round(normal(31), 1)  # ties among them
    counts = statistics._counts(31, 500, 7)
    means = [stats.trim_mean(np.repeat(values, row), 0.25) for row in counts]
    expected = np.quantile(means, [0.025, 0.975])
    found = statistics.bootstrap_interquartile_mean(values, resamples=500, seed=7)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("seeds", [2, 3, 5, 10, 20, 40])
def test_intervals_cover_the_mean_of_normals_as_often_as_they_say(seeds):
    low, high = statistics.mean_interval(normal(4000, seeds, seed=2))
    assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(0.95, abs=0.012)


def test_intervals_are_scipys():
    values = normal(9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose(statistics.mean_interval(values), (expected.low, expected.high))


def test_one_seed_has_no_interval():
    assert np.isnan(statistics.mean_interval(np.array([[3.0]]))).all()


@given(samples)
@settings(max_examples=30)
def test_no_interval_goes_beyond_what_is_possible(values):
    possible = (float(values.min()), float(values.max()))
    low, high = statistics.mean_interval(values, possible)
    slack = 1e-9 * (1 + np.abs(values).max())
    assert possible[0] <= low <= values.mean() + slack
    assert values.mean() - slack <= high <= possible[1]


@given(samples, numbers)
@settings(max_examples=30)
def test_bootstrap_interval_lies_within_the_values_and_moves_with_them(values, shift):
    low, high = statistics.bootstrap_interquartile_mean(values, resamples=200)
    again = statistics.bootstrap_interquartile_mean(values, resamples=200)
    assert again == (low, high)
    slack = 1e-9 * (1 + np.abs(values).max() + abs(shift))
    assert values.min() - slack <= low <= high + slack <= values.max() + 2 * slack
    moved = statistics.bootstrap_interquartile_mean(values + shift, resamples=200)
    np.testing.assert_allclose(moved, [low + shift, high + shift], atol=slack)


def test_a_mean_like_ours_falls_in_its_prediction_interval():
    random = np.random.default_rng(0)
    ours, theirs = random.normal(size=(4000, 12)), random.normal(size=(4000, 200)).mean(axis=1)
    errors = statistics.standard_error(ours)
    inside = [
        abs(mean - other) <= statistics.prediction_reach(error, 200**-0.5, 0.0, 12, 0.99)
        for mean, error, other in zip(ours.mean(axis=1), errors, theirs, strict=True)
    ]
    assert np.mean(inside) == pytest.approx(0.99, abs=0.006)


def test_effect_is_scipys_interval():
    values = normal(20)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = statistics.effect(values)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_rounding_is_no_difference_and_a_pair_without_a_value_stays_one():
    first = np.array([133.97, 133.97 * (1 + 1e-15), 2.0, np.inf])
    second = np.array([133.97, 133.97, 1.0, np.inf])
    np.testing.assert_array_equal(
        statistics.paired_differences(first, second), [0.0, 0.0, 1.0, np.nan]
    )


def test_what_never_varies_has_no_interval_around_it():
    assert statistics.bootstrap_interquartile_mean(np.full(40, 3.7)) == (3.7, 3.7)


def test_a_geometric_mean_has_its_interval_on_logs():
    values = np.array([[1.0, 10.0, 100.0], [2.0, 2.0, 2.0]])
    mean, low, high = statistics.geometric_mean(values)
    np.testing.assert_allclose(mean, [10, 2])
    expected = statistics.effect(np.log(values[0]))
    np.testing.assert_allclose([low[0], high[0]], np.exp([expected.low, expected.high]))
    np.testing.assert_allclose([low[1], high[1]], 2)
