"""The test behind verdicts: its level where nothing is to be found, its power, its looks."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pfedrl.analysis.evidence import (
    FEWEST,
    LEVEL,
    look,
    next_look,
    p_above,
    p_share,
    p_within,
    seeds_at,
    seeds_needed,
    spent,
    worst_without_one,
)
from pfedrl.analysis.level import NULLS, RARE, power, wrong_verdicts

SIMULATIONS = 4000
# so many wrong verdicts are seen in one of 10,000 test runs at the most, were the level just kept
ALLOWED = stats.binom.isf(1e-4, SIMULATIONS, LEVEL) / SIMULATIONS


@pytest.mark.parametrize("name", NULLS)
def test_wrong_verdicts_stay_below_the_level(name):
    ours, _ = wrong_verdicts(NULLS[name], SIMULATIONS)
    assert ours <= ALLOWED


def test_the_committed_table_has_every_kind_of_difference_below_the_level():
    path = Path(__file__).parents[2] / "paper_figures" / "evidence" / "level.csv"
    with path.open(encoding="utf-8", newline="") as file:
        shown = {row["differences"]: float(row["ours"]) for row in csv.DictReader(file) if row["t"]}
    assert list(shown) == [*NULLS, *RARE]
    assert max(shown[name] for name in NULLS) < LEVEL


@pytest.mark.parametrize("name", RARE)
def test_the_level_is_not_kept_where_it_is_said_not_to_be(name):
    ours, _ = wrong_verdicts(RARE[name], SIMULATIONS)
    assert ours > LEVEL


def test_a_t_test_would_not_stay_below_it():
    for name in ("exponential", "learns in a quarter of the seeds, against a steady one"):
        _, by_t = wrong_verdicts(NULLS[name], SIMULATIONS)
        assert by_t > 5 * LEVEL


def test_a_clear_difference_is_decided_by_20_seeds_and_a_plain_one_by_80():
    assert power(4.0, 1000)[2] > 0.95
    assert power(1.0, 1000)[-1] > 0.99


def test_looks_come_when_seeds_have_doubled():
    assert [look(n) for n in (4, 5, 9, 10, 39, 40, 80, 16_000)] == [None, 0, 0, 1, 2, 3, 4, 11]
    assert [next_look(n) for n in (0, 4, 5, 9, 10, 39, 40)] == [5, 5, 10, 10, 20, 40, 80]
    assert seeds_at(11) == 10_240


def test_the_level_spent_by_all_looks_is_no_more_than_the_level():
    shares = [LEVEL / float(spent(np.array(1e-9), k) / 1e-9) for k in range(30)]
    assert sum(shares) <= LEVEL


def test_seeds_between_two_looks_wait():
    values = np.random.default_rng(0).normal(1, 1, 39)
    assert p_above(values) == p_above(values[:20])


def test_fewer_than_five_seeds_are_not_looked_at():
    assert p_above(np.full(4, 5.0)) == 1


def test_ten_seeds_that_agree_are_not_enough_and_twenty_are():
    assert p_above(np.full(10, 5.0)) > LEVEL > p_above(np.full(20, 5.0))


def test_no_difference_at_all_is_no_evidence():
    assert p_above(np.zeros(40)) == 1
    assert p_within(np.zeros(40), 0.1) < LEVEL


def test_an_uncertain_bound_weakens_the_evidence():
    values = np.random.default_rng(0).normal(1, 1, 80)
    assert p_above(values) < LEVEL < p_above(values, error=1.0)


def test_equivalence_is_shown_and_not_the_want_of_a_difference():
    values = np.random.default_rng(0).normal(0, 1, 40)
    assert p_within(values, 2.0) < LEVEL < p_within(values, 0.1)


def test_the_share_of_successes_is_tested_exactly():
    above, below = p_share(np.ones(20), 0.75)
    assert above == pytest.approx(8 * 0.75**20)
    assert below == 1
    assert p_share(np.ones(5), 0.75)[0] > LEVEL  # five of five decide nothing


def test_one_seed_that_carries_a_verdict_is_found():
    values = np.r_[np.full(19, 1.0), -1.9]

    def p_value(samples, at):
        return float(p_above(samples[0], at=at))

    assert worst_without_one([values], p_value) >= p_above(values)
    assert worst_without_one([values[:4]], p_value) == 1


def test_many_seeds_are_searched_for_the_worst_at_their_ends():
    values = np.random.default_rng(1).normal(0.4, 1, 320)

    def p_value(samples, at):
        return float(p_above(samples[0], at=at))

    every = max(p_value([np.delete(values, i)], 6) for i in range(320))
    assert worst_without_one([values], p_value) == pytest.approx(every)


@pytest.mark.parametrize("effect", [0.3, 0.5, 1.0, 2.0, 4.0])
def test_the_seeds_said_to_be_needed_decide_about_half_of_the_time_or_more(effect):
    needed = seeds_needed(effect, 1.0)
    values = np.random.default_rng(0).normal(effect, 1, (400, needed))
    assert (p_above(values) < LEVEL).mean() > 0.4
    if needed > 20:
        assert (p_above(values[:, : needed // 2]) < LEVEL).mean() < 0.6


def test_a_seed_far_off_raises_the_price():
    """As with SoftPAvg on WindyCliffs: one difference in hundreds is ten times the others."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        rare = rng.random(shape) < 1 / 300
        return 0.3 + rng.normal(0, 1, shape) + rare * rng.laplace(0, 25, shape)

    promised, kept = {"normal": 0, "as seen": 0}, {"normal": 0, "as seen": 0}
    for seen in draw(60, 640):
        mean, spread = seen.mean(), seen.std(ddof=1)
        furthest = np.abs(seen - mean).max()
        for how, far in (("normal", 0.0), ("as seen", furthest)):
            needed = seeds_needed(mean, spread, 640, furthest=far)
            if mean > 0 and needed is not None:
                promised[how] += 1
                kept[how] += p_above(draw(needed)) < LEVEL
    assert kept["as seen"] / promised["as seen"] > 0.4
    assert kept["as seen"] / promised["as seen"] > kept["normal"] / promised["normal"]


def test_what_no_number_of_seeds_decides_is_said():
    assert seeds_needed(0.0, 1.0) is None
    assert seeds_needed(1e-6, 1.0) is None


def test_the_fewest_seeds_are_those_that_decide_what_no_seed_doubts():
    assert seeds_needed(1.0, 0.0) == FEWEST


def test_no_seeds_of_ours_make_the_error_of_a_printed_number_smaller():
    assert seeds_needed(1.0, 1.0, bound_error=0.1) >= seeds_needed(1.0, 1.0)
    assert seeds_needed(1.0, 1.0, bound_error=0.5) is None


def test_more_seeds_are_needed_than_did_not_decide():
    assert seeds_needed(4.0, 1.0) == 20
    assert seeds_needed(4.0, 1.0, have=39) == 40
