import numpy as np
import pytest
from pfedrl.analysis.verdicts import decide

from pfedrl.analysis.claims import judge
from pfedrl.analysis.printed import agrees, compare, deviation
from pfedrl.pipeline.claim import Agrees, Claim
from pfedrl.pipeline.paper import Artifact, Paper, Printed
from tests.analysis import fake


@pytest.mark.parametrize(("value", "half"), [("35.10", 0.005), ("35.1", 0.05), ("120", 0.5)])
def test_the_last_digit_is_that_which_is_printed(value, half):
    printed = Printed(experiment="e", variant="qavg", metric="m", value=value)
    assert printed.half_unit == pytest.approx(half)


def test_deviation_is_in_combined_standard_errors_less_the_rounding():
    assert deviation(10.105, 0.3, 9.1, 0.4, 0.005) == pytest.approx(2.0)
    assert deviation(8.095, 0.3, 9.1, 0.4, 0.005) == pytest.approx(-2.0)


def test_what_rounding_explains_is_no_deviation():
    assert deviation(133.9651, 0.0, 133.97, 0.005, 0.005) == 0


@pytest.mark.parametrize(("error", "expected"), [("0.00", 0.005), ("0.06", 0.06), (None, None)])
def test_an_error_printed_as_zero_is_half_of_the_last_digit(error, expected):
    printed = Printed(experiment="e", variant="qavg", metric="m", value="133.97", error=error)
    assert printed.standard_error == expected
    assert printed.text == ("133.97" if error is None else f"133.97 ± {error}")  # as it is printed


def test_an_error_that_is_not_printed_is_not_zero(summary):
    printed = Printed(experiment="e", variant="qavg", metric="objective",
                      along="local_steps", at=np.inf, value="9")  # fmt: skip
    row = compare(printed, summary)
    assert row.their_error is None
    assert np.isnan(row.deviation)


def test_what_has_no_value_has_no_deviation():
    assert np.isnan(deviation(np.nan, 0.1, 1.0, 0.1, 0.005))


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
    row = compare(printed, summary)
    assert row.ours == pytest.approx(7.0)
    error = np.sqrt(100 / 99) / 10
    assert row.our_error == pytest.approx(error)
    away = (abs(7.0 - 7.02) - 0.005) / np.hypot(error, 0.2)
    assert row.deviation == pytest.approx(away * np.sign(7.0 - 7.02))
    assert row.at == np.inf


@pytest.fixture
def judged(tmp_path):
    """The verdict on printed numbers of one cell each, with ours around 7 in so many seeds."""

    def verdict(*printed: tuple[str, str | None], margin: float, seeds=80, missing=0, spread=0.1):
        values = 7.0 + spread * np.random.default_rng(3).normal(size=seeds)
        values[:missing] = np.nan
        measured = {("iteration", 0, "m"): values}
        summary = fake.summary(tmp_path, "qavg", fake.cell("e", "qavg", {}, seeds, measured))
        rows = [
            compare(Printed(experiment="e", variant="qavg", metric="m", value=v, error=e), summary)
            for v, e in printed
        ]
        test = Agrees(kind="agrees", artifact="t", margin=margin)
        found = agrees(test, rows, {"e": summary})
        claim = Claim(id="c", words="w", where="s", test=test)
        return decide(claim, [found]).verdict, found.evidence

    return verdict


def test_equality_within_the_margin_is_shown(judged):
    verdict, evidence = judged(("7.01", "0.02"), ("6.99", "0.02"), margin=0.05)
    assert verdict == "reproduced"
    assert "2 of 2 printed numbers are equal to ours within 5.0%" in evidence
    assert "2 of 2 lie in the 99% prediction interval" in evidence


def test_that_nothing_is_known_does_not_show_equality(judged):
    """Three standard errors are far when seeds are few or noisy: today's rule would agree."""
    assert judged(("7.5", "0.5"), margin=0.01, seeds=20, spread=2.0)[0] == "undecided"
    assert judged(("7.01", "0.02"), margin=0.05, seeds=5)[0] == "undecided"


def test_one_number_clearly_beyond_the_margin_contradicts(judged):
    verdict, evidence = judged(("7.01", "0.02"), ("9.00", "0.02"), margin=0.05)
    assert verdict == "contradicted"
    assert "furthest: qavg of e (m), ours 6.99" in evidence and "printed 9" in evidence


def test_rounding_may_hide_half_a_digit(judged):
    assert judged(("8", "0.1"), margin=0.07)[0] == "undecided"  # 7.5 is 0.5 away, 0.56 allowed
    assert judged(("8.00", "0.1"), margin=0.07)[0] == "contradicted"


def test_a_number_without_uncertainty_is_never_contradicted(judged):
    verdict, evidence = judged(("9.00", None), margin=0.05)
    assert verdict == "undecided"
    assert "no uncertainty is printed for 1" in evidence
    assert judged(("7.00", None), margin=0.05)[0] == "reproduced"


def test_seeds_without_a_value_show_no_equality(judged):
    verdict, evidence = judged(("7.01", "0.02"), margin=0.05, missing=1)
    assert verdict == "undecided"
    assert "for 1, some of our seeds have no value" in evidence


def test_an_error_too_large_for_the_margin_is_said(judged):
    words = "for 1, the printed error is too large"
    verdict, evidence = judged(("7.00", "0.50"), ("7.00", "0.02"), margin=0.05, seeds=160)
    assert verdict == "undecided" and words in evidence
    assert words not in judged(("7.00", "0.02"), margin=0.05)[1]


def test_each_look_asks_more_of_a_printed_error(judged):
    words = "for 1, the printed error is too large"
    assert words not in judged(("7.00", "0.12"), margin=0.05, seeds=5)[1]
    assert words in judged(("7.00", "0.12"), margin=0.05, seeds=80)[1]


@pytest.mark.parametrize(
    ("seconds", "expected", "said"),
    [
        ({"qavg": 3, "dqn": 2, "dqn_avg": 9}, "contradicted", "less for 1 of 2 others: 2 for dqn;"),
        ({"qavg": 3, "dqn": 3, "dqn_avg": 9}, "reproduced", "less for 0 of 2 others;"),
    ],
)
def test_the_papers_own_numbers_decide_which_is_the_least(seconds, expected, said):
    test = {"kind": "printed_least", "artifact": "t", "option": "seconds", "least": "qavg"}
    claim = Claim(id="c", words="w", where="s", test=test)
    table = Artifact(kind="table", title="t", draw="d", experiments=[], caption="c",
                     options={"seconds": seconds})  # fmt: skip
    page = Paper(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={"t": table}
    )
    found = judge(claim, page, {})
    assert (found["verdict"], found["p_value"], found["seeds"]) == (expected, None, 0)
    assert said in found["evidence"][0]
