import numpy as np
import pytest
from pfedrl.analysis.verdicts import NOT_ABOVE_CONTROL

from pfedrl.analysis.claims import judge
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.claim import Claim
from pfedrl.pipeline.paper import Paper
from tests.analysis import fake

NOISE = np.random.default_rng(2).normal(size=(8, 100))
INFINITE = float("inf")
PAPER = Paper(paper="qavg", short="T", title="t", reference="r", experiments={})
CLAIM_KEYS = {"floor", "ceiling", "budget_free", "note"}


@pytest.fixture(autouse=True)
def stubs(monkeypatch):
    monkeypatch.setattr("pfedrl.analysis.theory.load_runnable", fake.stub)


@pytest.fixture
def verdict(tmp_path):
    """Judge one claim on values by local_steps: {1: values, 2: values, ...}."""

    def judged(values: dict[float, np.ndarray], **test):
        cells = [
            fake.cell(
                "e", "qavg", {"local_steps": steps}, len(column),
                {("iteration", 0, "objective"): column,
                 ("iteration", 0, "reached"): (column < 100).astype(float)},
            )
            for steps, column in values.items()
        ]  # fmt: skip
        summary = fake.summary(tmp_path, "qavg", *cells)
        rest = {key: test.pop(key) for key in CLAIM_KEYS & test.keys()}
        claim = Claim.model_validate({
            "id": "c", "words": "w", "where": "s", **rest,
            "test": {"experiment": "e", "metric": "objective", **test},
        })  # fmt: skip
        return judge(claim, PAPER, {"e": summary})

    return judged


def curve(*levels: float, noise: float = 0.3) -> dict[float, np.ndarray]:
    """Common draws and a level a point, at 1, 2, 4, ... and infinity."""
    points = [*(2.0**i for i in range(len(levels) - 1)), INFINITE]
    return {
        point: level + NOISE[-1] + noise * NOISE[i]
        for i, (point, level) in enumerate(zip(points, levels, strict=True))
    }


MONOTONE = {
    "kind": "monotone", "variant": "qavg", "along": "algorithm.local_steps", "direction": "falls"
}  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "direction", "expected"),
    [
        ((3, 2, 1), "falls", "reproduced"),
        ((1, 2, 3), "rises", "reproduced"),
        ((3, 2, 2.5), "falls", "contradicted"),
        ((1, 2, 3), "falls", "contradicted"),
        ((3, 2, 2), "falls", "reproduced"),  # a step may change nothing
        ((3, 2, 2.9), "falls", "contradicted"),  # but not go back
        ((2, 2, 2), "falls", "undecided"),
        ((1, 1.1, 1.2, 1.3, 1.4, 1.5), "falls", "contradicted"),  # as a whole
    ],
)
def test_monotone(verdict, levels, direction, expected):
    found = verdict(curve(*levels), **MONOTONE | {"direction": direction})
    assert found["verdict"] == expected


def test_monotone_needs_a_step_that_is_more_than_rounding(verdict):
    values = curve(3, 2, noise=0)
    values[INFINITE] = values[1.0] * (1 - 1e-14)
    assert verdict(values, **MONOTONE)["verdict"] == "undecided"


def test_monotone_shows_the_change_from_end_to_end_and_a_step_that_turns(verdict):
    found = verdict(curve(5, 1, 2), **MONOTONE)
    assert found["verdict"] == "contradicted"
    assert found["evidence"][0].startswith("qavg, local_steps=1 minus local_steps=inf = 3")
    assert "one step is clearly reversed" in found["evidence"][0]


def test_monotone_may_name_its_points(verdict):
    assert verdict(curve(3, 2, 9), **MONOTONE, points=[1, 2])["verdict"] == "reproduced"


def test_monotone_stays_open_where_a_point_between_the_ends_diverged(verdict):
    values = curve(3, 2, 1)
    values[2.0][7] = np.nan
    found = verdict(values, **MONOTONE)
    assert found["verdict"] == "undecided"
    assert "1 of 100 seeds have no value" in found["evidence"][0]


GREATER = {"kind": "greater", "greater": "qavg_local_steps=1", "smaller": "qavg_local_steps=inf"}


@pytest.mark.parametrize(
    ("levels", "margin", "expected"),
    [
        ((2, 1), 0, "reproduced"),
        ((2, 1), 0.5, "reproduced"),
        ((2, 1), 1.5, "contradicted"),
        ((1, 2), 0, "contradicted"),
        ((1, 1), 0, "undecided"),
    ],
)
def test_greater(verdict, levels, margin, expected):
    assert verdict(curve(*levels), **GREATER, margin=margin)["verdict"] == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([3.0, 9.0], [2.0, 6.0], "reproduced"),
        ([2.0, 6.0], [3.0, 9.0], "contradicted"),
        ([2.0, 6.0], [2.0, 6.0], "undecided"),
        ([2.0, 9.0], [3.0, 6.0], "undecided"),
        ([3.0, np.nan], [2.0, 6.0], "undecided"),
    ],
)
def test_what_is_counted_needs_no_test_but_all_seeds_must_agree(verdict, first, second, expected):
    values = {1.0: np.array(first), INFINITE: np.array(second)}
    found = verdict(values, **GREATER, counted="as bytes are")
    assert found["verdict"] == expected
    assert "no test needed: as bytes are" in found["evidence"][0]
    assert found["p_value"] is None


@pytest.mark.parametrize(
    ("values", "side", "expected"),
    [
        ([1.0, 1.05], "both", "reproduced"),
        ([0.8, 1.2], "both", "contradicted"),
        ([1.0, 1.2], "both", "undecided"),
        ([1.0, np.nan], "both", "undecided"),
        ([np.nan, np.nan], "both", "undecided"),
        ([0.5, 1.05], "below", "reproduced"),
        ([0.5, 0.8], "above", "contradicted"),
    ],
)
def test_what_is_near_a_number_may_be_counted_too(verdict, values, side, expected):
    near = {"kind": "near", "cell": "qavg_local_steps=1", "value": 1, "margin": 0.1, "side": side}
    found = verdict({1.0: np.array(values)}, **near, counted="as bytes are")
    assert found["verdict"] == expected
    assert found["p_value"] is None


@pytest.mark.parametrize(
    ("levels", "expected"), [((30, 10), "reproduced"), ((15, 10), "contradicted")]
)
def test_more_than_twice(verdict, levels, expected):
    found = verdict(curve(*levels), **GREATER, factor=2)
    assert found["verdict"] == expected
    assert "local_steps=1 minus 2 times qavg_local_steps=inf" in found["evidence"][0]


def test_equal_values_are_not_greater_and_are_equivalent(verdict):
    same = curve(1, 1, noise=0)
    assert verdict(same, **GREATER)["verdict"] == "undecided"
    assert verdict(same, **EQUIVALENT)["verdict"] == "reproduced"


def test_what_is_noted_of_a_claim_stands_beside_its_verdict(verdict):
    ends = {"greater": "qavg_local_steps=1", "smaller": "qavg_local_steps=inf"}
    result = verdict(curve(5, 1), kind="greater", **ends, note="seen before")
    assert result["notes"][-1] == "seen before"


@pytest.mark.parametrize(
    ("order", "control", "asked_for"),
    [
        ((3, 2.9), 1, True),
        ((3, 2.9), 4, False),  # the winner is below the control, however many seeds there are
        ((2.9, 3), 1, True),
        ((2.9, 3), 4, False),
    ],
)
def test_no_seeds_are_asked_for_where_the_control_would_withhold_the_verdict(
    verdict, order, control, asked_for
):
    values = {point: column[:20] for point, column in curve(order[0], control, order[1]).items()}
    floor = {"cell": "qavg_local_steps=2", "winner": "qavg_local_steps=1"}
    found = verdict(values, **GREATER, floor=floor)
    assert found["verdict"] == "undecided"
    assert (found["needed"] is not None) == asked_for
    assert any(NOT_ABOVE_CONTROL in note for note in found["notes"]) != asked_for


def test_a_single_seed_is_inconclusive(verdict):
    one = {steps: values[:1] for steps, values in curve(2, 1).items()}
    assert verdict(one, **GREATER)["verdict"] == "undecided"


EQUIVALENT = {
    "kind": "equivalent", "cells": ["qavg_local_steps=1", "qavg_local_steps=inf"], "margin": 0.5
}  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "expected"),
    [((1, 1.1), "reproduced"), ((1, 2), "contradicted"), ((1, 1.5), "undecided")],
)
def test_equivalent(verdict, levels, expected):
    assert verdict(curve(*levels), **EQUIVALENT)["verdict"] == expected


def test_equivalence_fails_by_one_pair_of_three(verdict):
    cells = [f"qavg_local_steps={steps}" for steps in ("1", "2", "inf")]
    found = verdict(curve(1, 1, 2), **EQUIVALENT | {"cells": cells})
    assert found["verdict"] == "contradicted"


BEST = {"kind": "best", "variant": "qavg", "along": "local_steps", "best": 2}


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((1, 2, 1), "reproduced"),
        ((1, 2, 3), "contradicted"),
        ((1, 2, 2), "undecided"),
        ((1, 2, 3, 1), "contradicted"),  # above both ends is not best
    ],
)
def test_best(verdict, levels, expected):
    assert verdict(curve(*levels), **BEST)["verdict"] == expected


SLOPE = {
    "kind": "slope", "variant": "qavg", "along": "algorithm.local_steps", "value": -1,
    "margin": 0.25,
}  # fmt: skip


def power(exponent: float) -> dict[float, np.ndarray]:
    """Values that are a power of the point, up to a factor near 1 a seed and point."""
    return {
        point: 90 * point**exponent * np.exp(0.1 * NOISE[i])
        for i, point in enumerate((2.0, 4.0, 6.0, 8.0, 10.0))
    }


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [(-1, "reproduced"), (-0.9, "reproduced"), (0, "contradicted"), (-2, "contradicted")],
)
def test_slope(verdict, exponent, expected):
    found = verdict(power(exponent), **SLOPE)
    assert found["verdict"] == expected
    assert found["effect"] == pytest.approx(exponent + 1, abs=0.03)


def test_a_slope_of_times_that_were_not_reached_decides_nothing(verdict):
    # the metric stands in for the mark's: zero at one point for all of its 100 seeds
    values = power(-1) | {10.0: np.zeros(100)}
    with np.errstate(divide="ignore", invalid="ignore"):
        found = verdict(values, **SLOPE, reached="objective")
    assert found["verdict"] == "undecided"
    assert "100 of 500 runs never reached the target" in found["evidence"][0]


def ordered(*steps: str) -> dict:
    return {"kind": "ordered", "cells": [f"qavg_local_steps={step}" for step in steps]}


@pytest.mark.parametrize(
    ("levels", "expected", "tau"),
    [
        ((3, 2, 1), "reproduced", 1),
        ((3, 1, 2), "contradicted", 1 / 3),
        ((1, 2, 3), "contradicted", -1),
    ],
)
def test_ordered(verdict, levels, expected, tau):
    found = verdict(curve(*levels), **ordered("1", "2", "inf"))
    assert found["verdict"] == expected
    assert found["effect"] == pytest.approx(tau, abs=0.1)


def test_one_swapped_pair_of_21_does_not_unmake_an_order(verdict):
    found = verdict(curve(7, 6, 5, 4, 2, 3, 1), **ordered("1", "2", "4", "8", "16", "32", "inf"))
    assert found["verdict"] == "reproduced"
    assert found["effect"] == pytest.approx(1 - 2 / 21, abs=0.02)


def test_seeds_without_a_value_leave_a_claim_open_and_are_told(verdict):
    values = curve(2, 1)
    values[1.0][:3] = np.nan
    found = verdict(values, **GREATER)
    assert found["verdict"] == "undecided"
    assert "3 of 100 seeds have no value" in found["evidence"][0]
    assert "diverged" not in found["evidence"][0]  # nothing says that they did
    assert found["p_value"] is None


def test_seeds_without_a_value_may_be_left_out_for_a_reason(verdict):
    values = curve(2, 1)
    values[1.0][:3] = np.nan
    found = verdict(values, **GREATER, undefined="no such rounds")
    assert found["verdict"] == "reproduced"
    assert "no such rounds" in found["evidence"][0]


def times(first, second):
    """A slow and a fast one's times, up to an end of training at 100."""
    return {1.0: np.minimum(first, 100.0), INFINITE: np.minimum(second, 100.0)}


SLOW, FAST = 150 + 20 * NOISE[0], 60 + 5 * NOISE[1]


def test_a_time_that_was_not_reached_is_a_time_up_to_the_end(verdict):
    found = verdict(times(SLOW, FAST), **GREATER, reached="reached")
    assert found["verdict"] == "reproduced"
    assert found["effect"] == pytest.approx(40, abs=1)  # of 100 and 60, not of 150 and 60
    missed = "100 and 0 of 100 runs, respectively, never reached the target"
    assert missed in found["evidence"][0]


def test_twice_as_long_is_not_refuted_by_runs_that_ended_too_early(verdict):
    found = verdict(times(SLOW, FAST), **GREATER, reached="reached", factor=2)
    assert found["verdict"] == "undecided"  # 100 is less than twice 60, but 150 is not


def test_twice_as_long_is_shown_where_the_fast_one_got_there(verdict):
    found = verdict(times(SLOW, FAST / 2), **GREATER, reached="reached", factor=2)
    assert found["verdict"] == "reproduced"


NEAR = {"kind": "near", "cell": "qavg_local_steps=1", "reached": "reached", "margin": 10}


def test_at_the_most_so_long_needs_runs_that_got_there(verdict):
    quick = times(FAST, FAST)
    assert verdict(quick, **NEAR, value=60, side="below")["verdict"] == "reproduced"
    some = times(np.where(np.arange(100) < 10, 300, FAST), FAST)
    assert verdict(some, **NEAR, value=60, side="below")["verdict"] == "undecided"
    assert verdict(some, **NEAR, value=30, side="above")["verdict"] == "reproduced"


def test_so_long_is_not_refuted_by_runs_that_ended_too_early(verdict):
    ended = times(SLOW, FAST)  # all at 100
    assert verdict(ended, **NEAR, value=150)["verdict"] == "undecided"
    assert verdict(ended, **NEAR, value=50)["verdict"] == "contradicted"  # at least 100
    assert verdict(times(FAST, FAST), **NEAR, value=150)["verdict"] == "contradicted"


def test_changes_are_compared_by_what_they_add_or_by_what_they_multiply(verdict):
    grown = {1.0: 80 + NOISE[0], 2.0: 30 + NOISE[1], 4.0: 40 + NOISE[2], INFINITE: 10 + NOISE[3]}
    cells = {f"qavg_local_steps={name}": None for name in ("1", "4", "2", "inf")}
    first, since, second, other = cells
    test = {"kind": "greater", "greater": first, "smaller": second, "since": [since, other]}
    assert verdict(grown, **test)["verdict"] == "reproduced"  # 40 against 20
    assert verdict(grown, **test, scale="log")["verdict"] == "contradicted"  # 2 times against 3


def test_values_over_orders_of_magnitude_are_compared_by_their_logarithms(verdict):
    values = {1.0: 3e7 ** (1 + 0.1 * NOISE[0]), INFINITE: 3e6 ** (1 + 0.1 * NOISE[1])}
    assert verdict(values, **GREATER)["verdict"] == "undecided"
    assert verdict(values, **GREATER, scale="log")["verdict"] == "reproduced"


@pytest.mark.parametrize(("seeds", "expected"), [(5, "undecided"), (40, "reproduced")])
def test_five_of_five_are_not_a_law(verdict, seeds, expected):
    all_of_them = {1.0: np.ones(seeds), INFINITE: np.ones(seeds)}
    found = verdict(all_of_them, kind="share", cell="qavg_local_steps=1", at_least=0.75)
    assert found["verdict"] == expected
    assert found["p_value"] > 0


def test_a_cell_that_does_not_exist_gets_the_nearest(verdict):
    with pytest.raises(PfedrlError, match="Did you mean 'qavg_local_steps=1'"):
        verdict(curve(2, 1), **GREATER | {"greater": "qavg_local_step=1"})
