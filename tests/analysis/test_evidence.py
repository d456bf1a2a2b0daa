"""E-values against closed forms, and what they promise: at most 1% wrong, whenever one stops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from pfedrl.analysis.evidence import DECIDES, chance, fewest, most_seeds, on_average
from pfedrl.analysis.level import EQUAL_MEANS, FAIR, decided, power, verdicts

COUNTS = st.integers(0, 30)


@given(COUNTS, COUNTS)
def test_most_seeds_is_the_mixture_over_win_rates_above_one_half(won, lost):
    def bet(angle):  # p = sin^2, in which Jeffreys' prior is flat
        p = np.sin(angle) ** 2
        return (2 * p) ** won * (2 * (1 - p)) ** lost

    expected = integrate.quad(bet, np.pi / 4, np.pi / 2)[0] / (np.pi / 4)
    assert most_seeds(won, lost) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("won", "lost", "value"), [(8, 0, 100.5), (10, 0, 361), (4, 0, 8.6), (8, 1, 11)]
)
def test_most_seeds_at_known_counts(won, lost, value):
    assert most_seeds(won, lost) == pytest.approx(value, rel=0.01)


@given(COUNTS, COUNTS)
def test_a_fair_coin_gains_nothing_by_the_next_toss(won, lost):
    """Under the fair coin the bet is a martingale: this is why one may stop whenever one likes."""
    later = (most_seeds(won + 1, lost) + most_seeds(won, lost + 1)) / 2
    assert later == pytest.approx(most_seeds(won, lost), rel=1e-9)


def test_seeds_needed_for_a_verdict_by_losses():
    needed = [
        next(n for n in range(1, 100) if most_seeds(n - lost, lost) >= DECIDES) for lost in range(6)
    ]
    assert needed == [8, 13, 17, 21, 24, 28]
    assert fewest() == 8


@pytest.mark.parametrize("draw", FAIR.values(), ids=FAIR)
def test_fair_comparisons_are_decided_in_less_than_two_percent(draw):
    assert verdicts(draw, 4_000) < 0.02


def test_equal_means_with_unlike_medians_are_often_decided():
    assert (
        verdicts(EQUAL_MEANS["learns in a quarter of the seeds, against a steady one"], 500) > 0.5
    )


def test_power_at_ten_seeds():
    assert [power(effect, 2_000)[1] for effect in (1.0, 2.0, 4.0)] == [
        pytest.approx(0.25, abs=0.05), pytest.approx(0.83, abs=0.05), pytest.approx(1.0, abs=0.01),
    ]  # fmt: skip


def test_a_verdict_once_given_stays():
    steps = decided(np.array([[1.0] * 8 + [-1.0] * 12]))[0]
    assert steps.tolist() == [False] * 7 + [True] * 13


def test_the_mean_of_skewed_differences_is_not_decided_where_it_is_zero():
    random = np.random.default_rng(0)
    values = np.where(random.random((400, 300)) < 0.9, 1.0, -9.0)  # nine of ten win; mean zero
    wrong = [max(on_average(v, 10.0), on_average(-v, 10.0)) >= DECIDES for v in values]
    assert np.mean(wrong) < 0.02
    assert most_seeds(270, 30) > DECIDES


def test_a_small_mean_is_decided_by_thousands_of_seeds():
    values = np.random.default_rng(0).normal(0.2, 1.0, 4_000)
    assert on_average(values, 10.0) > DECIDES
    assert on_average(-values, 10.0) < 1
    assert on_average(values[:10], 10.0) < 10


def test_what_lies_beyond_the_reach_counts_as_the_reach():
    values = np.array([5.0, 1.0, -1.0])
    assert on_average(values, 1.0) == on_average(np.clip(values, -1, 1), 1.0)


def test_four_to_nothing_is_not_taken_for_certain():
    assert 0.5 < chance(4, 0, 4) < 0.9
    assert chance(4, 0, 3) == 0.0
    assert chance(0, 4, 40) < 0.05
