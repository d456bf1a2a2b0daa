"""Whole papers judged, statements of theory among them."""

import json
import subprocess
import sys

import numpy as np
import pytest

from pfedrl.analysis.claim_tests import near
from pfedrl.analysis.claims import TESTS, evaluate, outcome_of, shortened
from pfedrl.analysis.summaries import read_summary
from pfedrl.pipeline.claim import Holds, Near
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.project import Project
from tests.analysis import fake
from tests.tiny import ROOT

PAPER = Paper(paper="qavg", short="T", title="t", reference="r", experiments={})


@pytest.fixture(autouse=True)
def stubs(monkeypatch):
    monkeypatch.setattr("pfedrl.analysis.theory.load_runnable", fake.stub)


def test_every_kind_of_claim_gets_the_verdict_its_numbers_were_made_for(project, made, tmp_path):
    results = evaluate(project, "qavg", "laptop", made, tmp_path / "claims.json")
    assert {result["kind"]: result["verdict"] for result in results} == {
        "monotone": "reproduced",
        "greater": "contradicted",
        "equivalent": "reproduced",
        "near": "reproduced",
        "slope": "reproduced",
        "ordered": "reproduced",
        "best": "contradicted",
        "share": "reproduced",
        "agrees": "contradicted",
        "holds": "contradicted",
        "exists": "reproduced",
    }
    assert {result["kind"] for result in results} == {*TESTS, "agrees"}
    written = json.loads((tmp_path / "claims.json").read_text())
    assert {k: n for k, n in written["counts"].items() if n} == {
        "reproduced": 7, "contradicted": 4
    }  # fmt: skip
    assert written["tested"] == 9 and written["expected_wrong"] == pytest.approx(0.09)
    assert len(written["printed"]["table1"]) == 30
    assert written["printed"]["figure2"][5]["at"] == "inf"


def test_what_a_scale_runs_less_of_is_said():
    real = Project(ROOT)
    page, laptop = real.paper("pfedrl_rep"), real.scale("laptop")
    tests = {claim.id: claim.tests for claim in page.claims}
    numbers, control = tests["table3_numbers"], tests["acrobot_average_attainable"]
    assert shortened(real, page, real.scale("paper"), numbers) == ""
    assert shortened(real, page, laptop, control) == ""  # a search has no budget of episodes
    assert shortened(real, page, laptop, numbers).startswith("120 of 500 episodes")
    theory = real.paper("theory")
    for claim in theory.claims:  # which has no budget to fall short of
        assert shortened(real, theory, real.scale("paper"), claim.tests) == ""


def test_the_counterexample_is_the_smallest_then_the_furthest_off(project, made, tmp_path):
    results = evaluate(project, "qavg", "laptop", made, tmp_path / "claims.json")
    found = next(result for result in results if result["kind"] == "holds")
    summary = read_summary(made, "qavg", "theory")
    margins, sizes = (summary.final("lemma1", metric) for metric in ("margin", "size"))
    smallest = sizes[margins < 0].min()
    expected = np.flatnonzero((sizes == smallest) & (margins == margins[sizes == smallest].min()))
    example = found["counterexample"]
    assert example["seed"] == expected[0]
    assert example["size"] == smallest
    assert example["instance"] == fake.stub("lemma1")().instance(example["seed"])
    failing = int((margins < 0).sum())
    assert f"fails on {failing} of 200 instances ({failing / 200:.1%})" in found["evidence"][0]


def statement(tmp_path, applies):
    """A statement that holds on odd seeds only, of 100, and where it applies."""
    margin = np.where(np.arange(100) % 2, 1.0, -1.0)
    measured = {("instance", 0, "margin"): margin, ("instance", 0, "applies"): applies}
    return fake.summary(tmp_path, "qavg", fake.cell("e", "lemma1", {}, 100, measured))


HOLDS = Holds(kind="holds", experiment="e", variant="lemma1", metric="margin")


def test_only_instances_that_meet_the_premises_are_counted(tmp_path):
    applies = (np.arange(100) < 10).astype(float)
    found = outcome_of(HOLDS, statement(tmp_path, applies))
    assert found.verdict == "contradicted"
    assert found.evidence.startswith(
        "fails on 5 of 10 instances that meet its premises, of 100 (50.0%)"
    )


def test_a_counterexample_outside_the_premises_contradicts_nothing(tmp_path):
    summary = statement(tmp_path, (np.arange(100) % 2).astype(float))
    assert outcome_of(HOLDS, summary).verdict == "reproduced"


def test_where_no_instance_meets_the_premises_there_is_no_verdict(tmp_path):
    summary = statement(tmp_path, np.zeros(100))
    near = Near(kind="near", experiment="e", cell="lemma1", metric="margin", value=9, margin=0.1)
    for test in (HOLDS, near):
        found = outcome_of(test, summary)
        assert found.verdict == "outside its assumptions"
        assert found.counterexample is None
        assert found.p_for is None
        assert found.evidence.startswith("no instance meets the statement's premises")


def test_smoke_issues_no_verdicts(project, made, tmp_path):
    results = evaluate(project, "qavg", "smoke", made, tmp_path / "claims.json")
    assert {result["verdict"] for result in results} == {"not run"}
    assert {result["evidence"][0] for result in results} == {"the smoke scale gives no verdicts"}
    assert all(result["p_value"] is None for result in results)


def test_claims_on_experiments_that_did_not_run_are_not_run(project, made, tmp_path):
    left_over = made  # summaries of what the scale once had
    results = evaluate(project, "qavg", "theory", left_over, tmp_path / "claims.json")
    assert {result["verdict"] for result in results} == {"not run"}
    assert results[0]["evidence"][0] == "table1_random_mdps: not run at the theory scale"


def test_judging_again_gives_the_same_bytes(project, made, tmp_path):
    evaluate(project, "qavg", "laptop", made, tmp_path / "one.json")
    evaluate(project, "qavg", "laptop", made, tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_a_mean_clearly_outside_the_margin_of_a_number_contradicts_it(made):
    summary = read_summary(made, "qavg", "theory")
    for value, speaks_for, against in ((4.0, True, False), (5.0, False, True)):
        claim = Near(kind="near", experiment="theory", cell="theorem1", metric="margin",
                     value=value, margin=0.2)  # fmt: skip
        outcome = near(claim, summary)
        assert (outcome.p_for < 0.01, outcome.p_against < 0.01) == (speaks_for, against)


def test_a_mean_below_a_number_is_near_enough_where_below_will_do(made):
    summary = read_summary(made, "qavg", "theory")  # the mean is about 4
    for value, speaks_for, against in ((5.0, True, False), (3.0, False, True)):
        claim = Near(kind="near", experiment="theory", cell="theorem1", metric="margin",
                     value=value, margin=0.2, side="below")  # fmt: skip
        outcome = near(claim, summary)
        assert (outcome.p_for < 0.01, outcome.p_against < 0.01) == (speaks_for, against)


def test_judging_claims_needs_no_plotting_library():
    code = "import sys, pfedrl.analysis.claims; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
