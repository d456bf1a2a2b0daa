"""Claims judged on made-up values by seed: each case is values, a test and a badge."""

import json

import numpy as np
import pytest

from pfedrl.analysis.claims import TESTS, Judge, evaluate, judge_all
from pfedrl.analysis.summaries import read_summary
from pfedrl.pipeline.claim import Claim
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.project import Project
from tests.analysis import fake
from tests.tiny import ROOT

UP, DOWN = np.arange(10) / 10 + 1.0, -np.arange(10) / 10 - 1.0  # ten seeds, all on one side
SPLIT = np.array([1.0, -1.0] * 5)
ONE_LOSS = np.array([1.0] * 9 + [-1.0])
EXPERIMENT = {
    "title": "t",
    "family": {"name": "made_up"},
    "variants": {name: {} for name in ("qavg", "soft_pavg", "random_policy")},
}


@pytest.fixture(autouse=True)
def stubs(monkeypatch):
    for module in ("theory", "labels"):
        monkeypatch.setattr(f"pfedrl.analysis.{module}.load_runnable", fake.stub)


@pytest.fixture
def judge(tmp_path):
    """Judge claims on cells: {variant or (variant, local_steps): {metric: values}}."""

    def judged(cells, *claims, less="", readings=(), experiments=("e",)):
        found = {}
        for experiment in experiments:
            made = []
            for name, metrics in cells.items():
                variant, steps = name if isinstance(name, tuple) else (name, None)
                sweep = {} if steps is None else {"local_steps": steps}
                values = {("iteration", 10, metric): v for metric, v in metrics.items()}
                seeds = len(next(iter(metrics.values())))
                made.append(fake.cell(experiment, variant, sweep, seeds, values))
            found[experiment] = fake.summary(tmp_path, "qavg", *made)
        written = [
            {"id": f"c{i}", "words": "w", "where": "s"} | claim for i, claim in enumerate(claims)
        ]
        page = Paper.model_validate({
            "paper": "qavg", "short": "T", "title": "t", "reference": "r", "claims": written,
            "experiments": dict.fromkeys(experiments, EXPERIMENT), "readings": list(readings),
        })  # fmt: skip
        return judge_all(Judge(page, found, {}, lambda experiment, cells: [less] if less else []))

    return judged


def ahead(**given):
    return {"kind": "ahead", "experiment": "e", "metrics": ["m"],
            "ahead": {"qavg": ["soft_pavg"]}} | given  # fmt: skip


def near(value, margin, **given):
    return {"kind": "near", "experiment": "e", "cell": "qavg", "metric": "m", "value": value,
            "margin": margin} | given  # fmt: skip


def both(kind, margin):
    return {"kind": kind, "experiment": "e", "metric": "m", "cells": ["qavg", "soft_pavg"],
            "margin": margin}  # fmt: skip


EXISTS = {"kind": "exists", "experiment": "e", "variant": "qavg", "metric": "m", "above": 0.5}


def against_zero(values, **others):
    return {"qavg": {"m": values}, "soft_pavg": {"m": np.zeros(len(values))}} | others


@pytest.mark.parametrize(
    ("values", "test", "badge"),
    [
        (UP, ahead(), "replicated"),
        (DOWN, ahead(), "contradicted"),
        (DOWN, ahead(best="lowest"), "replicated"),
        (SPLIT, ahead(), "open"),
        (ONE_LOSS, ahead(), "points for"),
        (-ONE_LOSS, ahead(), "points against"),
        (UP[:7], ahead(), "points for"),  # too few to decide, however clear
        (UP[:4], ahead(), "open"),
        (UP, ahead(margin=5), "contradicted"),
        (np.zeros(10), ahead(), "open"),  # ties are left out
        (np.concatenate([UP, np.zeros(30)]), ahead(), "replicated"),
        (np.append(UP, np.nan), ahead(), "open"),  # a seed without a value
        (np.append(UP, np.nan), ahead(undefined="no such rounds"), "replicated"),
        (UP, ahead(counted="of settings"), "replicated"),
        (SPLIT, ahead(counted="of settings"), "open"),
        (UP, near(1.5, 0.6), "replicated"),
        (UP, near(0, 0.5), "contradicted"),
        (UP, near(5, 0, side="below"), "replicated"),
        (UP, near(5, 0, side="above"), "contradicted"),
        (UP, both("equal", 3), "replicated"),
        (UP, both("unlike", 0.5), "replicated"),
        (DOWN, both("unlike", 0.5), "replicated"),  # in either direction
        (SPLIT, EXISTS, "replicated"),
        (DOWN, EXISTS, "open"),  # that none was seen does not show that there is none
    ],
)
def test_badge(judge, values, test, badge):
    (found,) = judge(against_zero(values), {"test": test})
    assert found["badge"] == badge


def test_seeds_won_and_lost_and_the_effect_are_beside_the_badge(judge):
    (found,) = judge(against_zero(-ONE_LOSS), {"test": ahead()})
    worst = found["comparisons"][0]
    assert (worst["won"], worst["lost"], worst["tied"]) == (1, 9, 0)
    assert worst["effect"] == pytest.approx(-0.8)
    assert worst["label"] == "QAvg minus SoftPAvg"
    assert worst["claimed"] == (0.0, None)
    assert worst["differences"] == [-1.0] * 9 + [1.0]


def test_the_worst_comparison_stands_first_and_one_reversed_of_several_is_averaged(judge):
    cells = {"qavg": {"m": UP, "n": DOWN, "o": UP}, "soft_pavg": dict.fromkeys("mno", 0 * UP)}
    (found,) = judge(cells, {"test": ahead(metrics=["m", "n", "o"])})
    assert found["comparisons"][0]["lost"] == 10
    assert found["badge"] == "contradicted"  # 361 / 3
    (found,) = judge(cells, {"test": ahead(metrics=["m", "n", "o", "m"])})
    assert found["badge"] == "points against"  # 361 / 4


def test_what_is_unlike_claims_the_values_outside_a_range(judge):
    worst = judge(against_zero(UP), {"test": both("unlike", 0.5)})[0]["comparisons"][0]
    assert (worst["won"], worst["lost"], worst["claimed"]) == (10, 0, (None, None))
    assert "claimed: not -0.5 to 0.5" in worst["words"]


TREND = {"kind": "trend", "experiment": "e", "metric": "m", "along": "local_steps",
         "direction": "falls", "variants": ["qavg"]}  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "badge"),
    [
        ((3, 2, 1), "replicated"),
        ((3, 2, 2), "replicated"),  # a step may change nothing
        ((3, 1, 2), "contradicted"),  # but not go back
        ((1, 2, 3), "contradicted"),
        ((2, 2, 2), "open"),
    ],
)
def test_trend(judge, levels, badge):
    cells = {("qavg", 2.0**i): {"m": level + 0 * UP} for i, level in enumerate(levels)}
    (found,) = judge(cells, {"test": TREND})
    assert found["badge"] == badge


TIMES = {"ends": "iteration", "best": "lowest"}


@pytest.mark.parametrize(
    ("first", "second", "test", "counts"),
    [
        (4.0, 8.0, {}, (10, 0)),
        (4.0, 99.0, {}, (10, 0)),  # the other never gets there, and ended later
        (99.0, 4.0, {}, (0, 10)),
        (99.0, 99.0, {}, (0, 0)),  # neither gets there: never a win
        (4.0, 99.0, {"factor": 0.5}, (10, 0)),  # 4 is less than half of 10 or more
        (6.0, 99.0, {"factor": 0.5}, (0, 0)),  # 6 may or may not be
        (99.0, 4.0, {"factor": 0.5}, (0, 10)),
    ],
)
def test_times_count_only_where_ended_runs_leave_no_doubt(judge, first, second, test, counts):
    cells = {"qavg": {"m": first + 0 * UP}, "soft_pavg": {"m": second + 0 * UP}}
    (found,) = judge(cells, {"test": ahead(**TIMES, **test)})
    assert (found["comparisons"][0]["won"], found["comparisons"][0]["lost"]) == counts


@pytest.mark.parametrize(
    ("reached", "counts", "badge"), [(1.0, (10, 0), "replicated"), (0.0, (0, 0), "open")]
)
def test_exponents_of_seeds_that_never_reach_the_target_say_nothing(judge, reached, counts, badge):
    cells = {
        ("qavg", steps): {"m": 8 / steps + 0 * UP, "r": reached + 0 * UP}
        for steps in (1.0, 2.0, 4.0)
    }
    test = {"kind": "slope", "experiment": "e", "variant": "qavg", "metric": "m", "reached": "r",
            "along": "local_steps", "value": -1, "margin": 0.1}  # fmt: skip
    (found,) = judge(cells, {"test": test})
    assert (found["comparisons"][0]["won"], found["comparisons"][0]["lost"]) == counts
    assert found["badge"] == badge


@pytest.mark.parametrize(
    ("values", "control", "badge"),
    [
        (UP, -5.0, "replicated"),
        (UP, 5.0, "open"),  # the winner does not beat the control
        (DOWN, -5.0, "contradicted"),
        (DOWN, 0.5, "open"),  # nor does the other, where the order is reversed
    ],
)
def test_an_order_counts_only_where_its_winner_beats_the_control(judge, values, control, badge):
    cells = against_zero(values, random_policy={"m": control + 0 * values})
    (found,) = judge(cells, {"test": ahead(), "floor": {"cell": "random_policy"}})
    assert found["badge"] == badge
    assert bool(found["control"]) == (badge == "open")


def test_where_all_reach_the_best_that_is_known_there_is_no_order(judge):
    cells = {"qavg": {"m": 100 + UP / 10}, "soft_pavg": {"m": 100 + 0 * UP},
             "random_policy": {"m": 0 * UP}}  # fmt: skip
    gates = {"floor": {"cell": "random_policy"}, "ceiling": {"cell": "soft_pavg"}}
    assert judge(cells, {"test": ahead()} | gates)[0]["badge"] == "open"
    assert judge(cells, {"test": ahead()})[0]["badge"] == "replicated"


@pytest.mark.parametrize(
    ("values", "given", "badge"),
    [
        (UP, {}, "holds at a smaller budget"),
        (DOWN, {}, "fails at a smaller budget"),
        (UP, {"budget_free": "messages are counted"}, "replicated"),
        (UP, {"needs_budget": "a time of the full training"}, "open"),
    ],
)
def test_a_shorter_training_decides_at_its_own_budget(judge, values, given, badge):
    (found,) = judge(against_zero(values), {"test": ahead()} | given, less="10 of 50 rounds")
    assert found["badge"] == badge
    assert found["budget"] == "10 of 50 rounds"


@pytest.mark.parametrize(("since", "expected"), [(0, False), (2, False), (3, True), (10, True)])
def test_a_verdict_is_post_hoc_until_later_seeds_decide_alone(judge, since, expected):
    (found,) = judge(against_zero(UP), {"test": ahead(), "since": since})
    assert found["badge"] == "replicated"
    assert found["post_hoc"] is expected  # eight seeds decide, seven do not


def test_a_sentence_cannot_be_open_where_one_that_it_contains_is_contradicted(judge):
    cells = {"qavg": {"m": UP, "n": DOWN}, "soft_pavg": {"m": 0 * UP, "n": 0 * UP}}
    many = ahead(metrics=["m"] * 9 + ["n"])
    weaker, stronger = judge(
        cells, {"test": ahead(metrics=["n"])}, {"test": many, "contains": ["c0"]}
    )
    assert (weaker["badge"], stronger["badge"]) == ("contradicted", "contradicted")
    assert judge(cells, {"test": many})[0]["badge"] == "points against"


@pytest.mark.parametrize(
    ("read_as", "badge"),
    [(DOWN, "depends on the reading"), (UP, "replicated"), (SPLIT, "replicated")],
)
def test_a_verdict_that_a_reading_reverses_depends_on_it(judge, read_as, badge):
    cells = {"qavg": {"m": UP, "n": read_as}, "soft_pavg": {"m": 0 * UP, "n": 0 * UP}}
    reading = {"id": "r", "words": "another metric", "metrics": {"m": "n"}}
    (found,) = judge(cells, {"test": ahead()}, readings=[reading])
    assert found["badge"] == badge
    assert [one["id"] for one in found["readings"]] == ["r"]


def test_means_and_most_seeds_may_disagree_and_both_are_shown(judge):
    """Nine of ten seeds win by 1, the others lose by 19: most seeds win, the mean is -1."""
    values = np.where(np.arange(2000) % 10 > 0, 1.0, -19.0)
    by_seed, by_mean = judge(
        against_zero(values), {"test": ahead(), "range": 20},
        {"test": ahead(), "average": True, "range": 20},
    )  # fmt: skip
    assert (by_seed["badge"], by_mean["badge"]) == ("replicated", "contradicted")
    assert by_seed["comparisons"][0]["other"] == by_mean["comparisons"][0]["e_for"]


def test_a_mean_of_unknown_range_is_not_judged(judge):
    (found,) = judge(against_zero(UP), {"test": ahead(), "average": True})
    assert found["badge"] == "open"
    assert "range" in found["notes"][0]


def test_the_papers_own_numbers_decide_which_is_the_least():
    for least, badge in ((2, "replicated"), (3, "contradicted")):
        page = Paper.model_validate({
            "paper": "qavg", "short": "T", "title": "t", "reference": "r", "experiments": {},
            "artifacts": {"t": {"kind": "table", "title": "t", "draw": "d", "experiments": [],
                                "caption": "c", "options": {"seconds": {"qavg": least, "dqn": 2}}}},
            "claims": [{"id": "c", "words": "w", "where": "s", "test": {
                "kind": "printed_least", "artifact": "t", "option": "seconds", "least": "qavg"}}],
        })  # fmt: skip
        assert judge_all(Judge(page, {}))[0]["badge"] == badge


# --- whole papers, statements of theory among them


def test_every_kind_of_claim_gets_the_badge_its_numbers_were_made_for(project, made, tmp_path):
    results = evaluate(project, "qavg", "laptop", made, tmp_path / "claims.json")
    assert {result["words"]: result["badge"] for result in results} == {
        "a trend claim": "replicated",
        "a ahead claim": "contradicted",
        "a equal claim": "replicated",
        "a unlike claim": "contradicted",
        "a near claim": "replicated",
        "a slope claim": "replicated",
        "a holds claim": "contradicted",
        "a exists claim": "replicated",
    }
    assert len(results) == len(TESTS)
    written = json.loads((tmp_path / "claims.json").read_text())
    assert {k: n for k, n in written["counts"].items() if n} == {"replicated": 5, "contradicted": 3}
    assert len(written["printed"]["table1"]) == 30
    assert written["printed"]["figure2"][5]["at"] == "inf"
    evaluate(project, "qavg", "laptop", made, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "claims.json").read_bytes()


def test_the_counterexample_is_the_smallest_then_the_furthest_off(project, made, tmp_path):
    results = evaluate(project, "qavg", "laptop", made, tmp_path / "claims.json")
    found = next(result for result in results if "holds" in result["words"])
    summary = read_summary(made, "qavg", "theory")
    margins, sizes = (summary.final("lemma1", metric) for metric in ("margin", "size"))
    smallest = sizes[margins < 0].min()
    expected = np.flatnonzero((sizes == smallest) & (margins == margins[sizes == smallest].min()))
    example = found["counterexample"]
    assert (example["seed"], example["size"]) == (expected[0], smallest)
    assert example["instance"] == fake.stub("lemma1")().instance(example["seed"])


@pytest.mark.parametrize(
    ("applies", "badge"),
    [
        (np.arange(100) < 10, "contradicted"),  # five of the ten that meet the premises fail
        (np.arange(100) % 2 == 1, "replicated"),  # counterexamples outside them count for nothing
        (np.arange(100) < 0, "outside its assumptions"),
    ],
)
def test_statements_are_judged_within_their_premises(judge, applies, badge):
    margin = np.where(np.arange(100) % 2, 1.0, -1.0)
    test = {"kind": "holds", "experiment": "e", "variant": "qavg", "metric": "margin"}
    (found,) = judge({"qavg": {"margin": margin, "applies": applies.astype(float)}}, {"test": test})
    assert found["badge"] == badge


@pytest.mark.parametrize(("scale", "why"), [("smoke", "the smoke scale gives no verdicts"),
                                           ("theory", "not run at the theory scale")])  # fmt: skip
def test_a_scale_without_verdicts_or_runs_has_none(project, made, tmp_path, scale, why):
    results = evaluate(project, "qavg", scale, made, tmp_path / "claims.json")
    assert {result["badge"] for result in results} == {"not run"}
    first = results[0]
    assert why in [*first["notes"], *(one["words"] for one in first["comparisons"])][0]


def test_what_a_scale_runs_less_of_is_said_of_learners_alone():
    real = Project(ROOT)
    from pfedrl.analysis.cuts import cuts

    def less(paper, claim, scale):
        page = real.paper(paper)
        judge = Judge(page, {}, {}, lambda e, of: cuts(real, paper, e, scale, of))
        return judge.less(next(c for c in page.claims if c.id == claim).tests)

    assert less("pfedrl_rep", "cartpole_best_average", "paper") == ""
    assert less("pfedrl_rep", "cartpole_best_average", "laptop").startswith("120 of 500 episodes")
    assert less("pfedrl_rep", "acrobot_average_attainable", "laptop") == ""  # a search
    assert less("theory", real.paper("theory").claims[0].id, "laptop") == ""


def test_a_claim_that_says_a_budget_matters_and_does_not_is_refused():
    with pytest.raises(ValueError, match="contradict each other"):
        Claim.model_validate({"id": "c", "words": "w", "where": "s", "test": ahead(),
                              "budget_free": "a", "needs_budget": "b"})  # fmt: skip
