import numpy as np
import pytest

from pfedrl.analysis.claim_tests import agrees
from pfedrl.analysis.printed import Comparison, compare, deviation
from pfedrl.analysis.summaries import paths, read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.pipeline.paper import Agrees, Printed
from tests.analysis import fake

OUR_ERROR = 1 / np.sqrt(99)  # of 100 seeds, half of them 1 above the mean and half 1 below


@pytest.mark.parametrize(("value", "half"), [("35.10", 0.005), ("35.1", 0.05), ("120", 0.5)])
def test_the_last_digit_is_that_which_is_printed(value, half):
    printed = Printed(experiment="e", variant="qavg", metric="m", value=value)
    assert printed.half_unit == pytest.approx(half)


def test_deviation_is_in_combined_standard_errors_less_the_rounding():
    assert deviation(10.105, 0.3, 9.1, 0.4, 0.005) == pytest.approx(2.0)
    assert deviation(8.095, 0.3, 9.1, 0.4, 0.005) == pytest.approx(-2.0)


def test_what_rounding_explains_is_no_deviation():
    assert deviation(133.9651, 0.0, 133.97, 0.0, 0.005) == 0


def test_an_error_printed_as_zero_is_half_of_the_last_digit():
    assert deviation(133.95, 0.0, 133.97, 0.0, 0.005) == pytest.approx(-3.0)


def test_an_error_that_is_not_printed_is_not_zero(summary):
    printed = Printed(experiment="e", variant="qavg", metric="objective",
                      along="local_steps", at=np.inf, value="9")  # fmt: skip
    row = compare(printed, summary)
    assert row.their_error is None
    assert row.deviation == pytest.approx(-1.5 / np.hypot(OUR_ERROR, 0.5))


def test_what_diverged_has_no_deviation():
    assert np.isnan(deviation(np.nan, 0.1, 1.0, 0.1, 0.005))


@pytest.fixture
def summary(tmp_path):
    measured = {
        ("iteration", at, "objective"): np.array([level - 1.0, level + 1.0] * 50)
        for at, level in [(0, 1.0), (5, 9.0), (10, 7.0)]
    }
    runs = fake.write_cell(tmp_path, "e", "qavg", {"local_steps": np.inf}, 100, measured)
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    return read_summary(tmp_path, "qavg", "e")


def test_the_last_point_of_a_curve_is_compared(summary):
    printed = Printed(
        experiment="e", variant="qavg", metric="objective",
        along="algorithm.local_steps", at=np.inf, value="7.02", error="0.2",
    )  # fmt: skip
    row = compare(printed, summary)
    assert row.ours == pytest.approx(7.0)
    assert row.our_error == pytest.approx(OUR_ERROR)
    away = (abs(7.0 - 7.02) - 0.005) / np.hypot(OUR_ERROR, 0.2)
    assert row.deviation == pytest.approx(away * np.sign(7.0 - 7.02))
    assert row.at == np.inf


def row(away: float, diverged: int = 0) -> Comparison:
    return Comparison("e", "qavg", "m", "c", "", None, 1.0, 0.1, 1.0, 0.1, away, 50, diverged)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(0.1), row(-2.9)], "reproduced"),
        ([row(0.1), row(-3.1)], "contradicted"),
        ([row(0.1), row(0.2, diverged=1)], "inconclusive"),
        ([row(0.1), row(np.nan)], "inconclusive"),
        ([row(np.nan)], "inconclusive"),
        ([row(np.inf), row(np.nan)], "contradicted"),
    ],
)
def test_agrees(rows, expected):
    assert agrees(Agrees(kind="agrees", artifact="t", within=3), rows).verdict == expected


def test_agreement_names_the_number_that_is_furthest_off():
    found = agrees(Agrees(kind="agrees", artifact="t", within=3), [row(0.1), row(-4.0)])
    assert "1 of 2 printed numbers" in found.evidence
    assert "-4.0 s.e." in found.evidence
