import numpy as np
import pytest

from pfedrl.analysis.printed import compare, deviation, grade
from pfedrl.pipeline.paper import Printed
from tests.analysis import fake


@pytest.mark.parametrize(("value", "half"), [("35.10", 0.005), ("35.1", 0.05), ("120", 0.5)])
def test_the_last_digit_is_that_which_is_printed(value, half):
    printed = Printed(experiment="e", variant="qavg", metric="m", value=value)
    assert printed.half_unit == pytest.approx(half)


@pytest.mark.parametrize(
    ("ours", "our_error", "theirs", "their_error", "expected"),
    [
        (10.105, 0.3, 9.1, 0.4, 2.0),  # in combined standard errors, less the rounding
        (8.095, 0.3, 9.1, 0.4, -2.0),
        (133.9651, 0.0, 133.97, 0.005, 0.0),  # what rounding explains
        (np.nan, 0.1, 1.0, 0.1, np.nan),
    ],
)
def test_deviation(ours, our_error, theirs, their_error, expected):
    found = deviation(ours, our_error, theirs, their_error, 0.005)
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("error", "expected"), [("0.00", 0.005), ("0.06", 0.06), (None, None)])
def test_an_error_printed_as_zero_is_half_of_the_last_digit(error, expected):
    printed = Printed(experiment="e", variant="qavg", metric="m", value="133.97", error=error)
    assert printed.standard_error == expected
    assert printed.text == ("133.97" if error is None else f"133.97 ± {error}")  # as it is printed


def test_an_error_that_is_not_printed_is_not_zero(summary):
    printed = Printed(experiment="e", variant="qavg", metric="objective",
                      along="local_steps", at=np.inf, value="9")  # fmt: skip
    row = compare(printed, {"e": summary})
    assert row.their_error is None
    assert np.isnan(row.deviation)


@pytest.fixture
def summary(tmp_path):
    measured = {
        ("iteration", at, "objective"): np.array([level - 1.0, level + 1.0] * 50)
        for at, level in [(0, 1.0), (5, 9.0), (10, 7.0)]
    }
    cell = fake.cell("e", "qavg", {"local_steps": np.inf}, 100, measured)
    return fake.summary(tmp_path, "qavg", cell)


def test_the_last_point_of_a_curve_is_compared(summary):
    printed = Printed(
        experiment="e", variant="qavg", metric="objective",
        along="algorithm.local_steps", at=np.inf, value="7.02", error="0.2",
    )  # fmt: skip
    row = compare(printed, {"e": summary})
    assert row.ours == pytest.approx(7.0)
    error = np.sqrt(100 / 99) / 10
    assert row.our_error == pytest.approx(error)
    away = (abs(7.0 - 7.02) - 0.005) / np.hypot(error, 0.2)
    assert row.deviation == pytest.approx(away * np.sign(7.0 - 7.02))
    assert row.at == np.inf


@pytest.mark.parametrize(
    ("distance", "reach", "expected"),
    [
        (0.01, 0.005, "same"), (-0.01, 0.005, "same"), (0.01, 0.02, "near"), (0.05, 0.04, "near"),
        (0.2, 0.05, "far"), (-0.2, 0.05, "far"), (0.08, 0.05, "open"), (0.12, 0.05, "open"),
        (np.nan, 0.1, "open"),
    ],
)  # fmt: skip
def test_a_number_is_near_or_far_with_its_whole_interval(distance, reach, expected):
    assert grade(distance, reach) == expected


@pytest.mark.parametrize(("top", "distance"), [({"optimal_policy": 17.0}, 0.1), ({}, np.nan)])
def test_distance_is_a_share_of_the_range_from_the_control_to_the_best(tmp_path, top, distance):
    levels = {"qavg": 8.0, "random_policy": 7.0} | top
    cells = [
        fake.cell("e", name, {}, 10, {("iteration", 0, "objective"): np.full(10, level)})
        for name, level in levels.items()
    ]
    printed = Printed(experiment="e", variant="qavg", metric="objective", value="7.00", error="0.1")
    row = compare(printed, {"e": fake.summary(tmp_path, "qavg", *cells)})
    assert row.distance == pytest.approx(distance, nan_ok=True)
