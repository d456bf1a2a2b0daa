"""Findings: numbers in texts are what the runs say, and what cannot be said is explained."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfedrl.analysis import findings
from pfedrl.analysis.check import Measured, check_finding
from pfedrl.analysis.findings import Told, short, shown, tell
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.finding import STATISTICS, Finding
from pfedrl.pipeline.project import Project
from tests.analysis import fake
from tests.projects import write_paper
from tests.tiny import ROOT

TABLE, CURVE = "table1_random_mdps", "figure2_qavg"
FINAL = {
    "qavg": [1.0, 2.0, 3.0, 6.0],
    "proj_pavg": [2.0, 2.0, 2.0, 2.0],
    "soft_pavg": [-31.0, -29.0, -30.0, -30.0],
}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What a text says of made-up runs: four seeds with known values."""
    summaries = tmp_path / "results" / "record" / "summaries"
    fake.summary(summaries, "qavg", *(
        fake.cell(
            TABLE, variant, {"kappa": 0.0}, 4,
            {("iteration", 9, "centre_value"): np.array(values),
             ("iteration", 9, "objective"): np.array([0.0, 0, 1, 1])}, episodes=1200,
        )
        for variant, values in FINAL.items()
    ))  # fmt: skip
    curve = {
        ("iteration", at, "objective"): np.full(4, level)
        for at, level in [(0, 5.0), (10, -7.0), (20, 30.0), (30, 20.0)]
    }
    fake.summary(summaries, "qavg", fake.cell(CURVE, "qavg", {"local_steps": 1.0}, 4, curve))
    fake.summary(summaries, "qavg", *(
        fake.cell(
            "speedup", "qavg", {"agents": agents}, 4,
            {("iteration", 0, "time"): np.full(4, 3 / agents**2)},
        )
        for agents in (2.0, 4.0, 8.0)
    ))  # fmt: skip
    monkeypatch.setattr(
        findings, "absent", lambda *asked: "not published" if asked[2] == "theory" else None
    )

    def of(
        text: str, headline: str = "", holds: Sequence[str] = (), **numbers: dict[str, Any]
    ) -> Told:
        asked = {
            "id": "one", "title": "A title", "text": text, "headline": headline, "see": ["table1"],
            "experiment": TABLE, "metric": "centre_value", "numbers": numbers,
            "holds": list(holds),
        }  # fmt: skip
        write_paper(tmp_path, "qavg", fake.paper() | {"findings": [asked]})
        claims = [
            {"id": claim.id, "badge": "replicated"}
            for claim in Project(tmp_path).paper("qavg").claims
        ]
        judged = {"qavg": {"claims": claims}}
        return tell(Project(tmp_path), judged)["qavg"][0]

    return of


Q, P, S = ({"cell": f"{variant}_kappa=0"} for variant in FINAL)
THREE = {"cell": [f"{variant}_kappa=0" for variant in ("qavg", "proj_pavg", "soft_pavg")]}
LINE = {"experiment": CURVE, "cell": "qavg_local_steps=1", "metric": "objective"}


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("{x} ± {x.se}", Q, "3 ± 1.1"),
        ("{x.median} {x.min} {x.max} {x.second} {x.seeds}", Q, "2.5 1 6 3 4"),
        ("{x.but_lowest:.2f}", Q, "3.67"),
        ("{x}", S, "−30"),
        ("{x.above} {x.below} {x.share_below}", Q | {"less": P["cell"]}, "2 1 25"),
        ("{x} of {x.seeds}", Q | {"where": "objective"}, "4.5 of 2"),
        ("{x} of {x.seeds}", Q | {"first": 2}, "1.5 of 2"),
        ("{x}, {x.list}, {x.place} of {x.cells}", THREE, "−30 to 3, 3, 2 and −30, first of three"),
        ("{x.cells_above} {x.cells_below}", THREE, "two one"),
        ("{x.cells_above}", THREE | {"less": [P["cell"], Q["cell"], Q["cell"]]}, "one"),
        ("{x} {x.lowest} {x.lowest_at}", LINE | {"since": 5}, "14 −7 10"),
        ("{x.highest} {x.highest_at}", LINE | {"until": 15}, "5 0"),
        ("{x:.1f} {x.highest}", LINE, "20.0 30"),
        ("{x:.2f}", {"experiment": "speedup", "cell": "qavg", "metric": "time", "along": "agents"},
         "−2.00"),
        ("{x}", Q | {"setting": "episodes"}, "1,200"),
        ("{x}", {"verdict": "replicated"}, "2"),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_runs(told, text: str, number: dict[str, Any], said: str):
    assert told(text, x=number).text == said


def test_numbers_stand_beside_the_printed_ones(told):
    with pytest.raises(
        PfedrlError, match=r"one: \{x\.printed\} cannot be computed \(the paper prints"
    ):
        told("{x.printed}", x=Q)


def test_every_statistic_is_computed():
    computed = {*findings.OF_SEEDS, *findings.OF_CURVES, *findings.OF_CELLS}
    assert computed | {"agents", "cells", "printed", "paper"} == set(STATISTICS)


@pytest.mark.parametrize(
    ("value", "spec", "said"),
    [
        (1234.5, "", "1,234"), (9.96, "", "10"), (-0.0496, "", "−0.05"), (7, "", "7"),
        (-0.2, ".0f", "0"), (0.0012, ".2%", "0.12%"), (1.6e-11, ".0e", "2e−11"),
    ],
)  # fmt: skip
def test_numbers_are_short(value: float, spec: str, said: str):
    assert short(value, spec) == said


def test_values_that_look_alike_are_no_range():
    assert shown([2.01, 2.04]) == "2"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{rap}", "findings.yaml, one: unknown number 'rap'. Did you mean 'rep'?"),
        ("{rep.medium}", "unknown statistic 'medium'. Did you mean 'median'?"),
        ("nothing", "findings.yaml, one.numbers: 'rep' is not in its text"),
        ("{rep", "findings.yaml, 0: expected '}' before end of string"),
    ],
)
def test_a_text_names_its_numbers(told, text: str, error: str):
    with pytest.raises(PfedrlError, match=re.escape(error)):
        told(text, rep=Q)


@pytest.mark.parametrize(
    ("number", "error"),
    [
        ({"cel": "dqn"}, "numbers.x: unknown key 'cel'. Did you mean 'cell'?"),
        ({"cell": "dqn", "experiment": "table1"}, "unknown experiment 'table1'"),
        ({"cell": ["a", "b"], "less": ["c"]}, "'less' and 'cell' must have the same number"),
        ({"cell": "a", "metric": "m", "setting": "s"}, "metric and setting cannot be combined"),
        ({"metric": "m"}, "'cell' is missing"),
        ({"cell": "a", "less": "b", "since": 3}, "'less' needs final values"),
    ],
)
def test_a_number_is_checked(told, number: dict[str, Any], error: str):
    with pytest.raises(PfedrlError, match=re.escape(error)):
        told("{x}", x=number)


@pytest.mark.parametrize(
    ("number", "error"),
    [
        ({"cell": "dqn_agv"}, "unknown cell 'dqn_agv'. Did you mean 'dqn_avg'?"),
        ({"cell": "dqn", "less": "dqn_agv"}, "unknown cell 'dqn_agv'"),
        ({"cell": "dqn", "metric": "return_averag"}, "Did you mean 'return_average'?"),
        ({"cell": "dqn", "where": "learnt"}, "unknown metric 'learnt'"),
        ({"cell": "dqn", "setting": "episode"}, "Did you mean 'episodes'?"),
        ({"cell": "dqn", "along": "agents"}, "unknown swept key 'agents'"),
    ],
)
def test_what_is_named_will_be_measured(number: dict[str, Any], error: str):
    finding = Finding.model_validate({
        "id": "f", "title": "t", "text": "{x}", "experiment": "control_cartpole",
        "metric": "return_average", "numbers": {"x": number},
    })  # fmt: skip
    with pytest.raises(PfedrlError, match=re.escape("f.numbers.x, ")) as raised:
        check_finding(Measured(Project(ROOT), "pfedrl_rep"), finding, "f")
    assert error in str(raised.value)


def test_what_is_not_published_is_left_out_and_said(told, tmp_path: Path):
    one = told("{x}", x={"experiment": "theory", "cell": "lemma1", "metric": "margin"})
    assert not one.text and one.missing == "theory: not published"


@pytest.mark.parametrize(
    "words", ["x < 4", "x.max > y", "y > -30.5", "all < 3.5", "y < x.min", "x.seeds > 3"]
)
def test_words_that_hold_are_said(told, words: str):
    assert told("{x} {y} {all}", holds=[words], x=Q, y=S, all=THREE).text == "3 −30 −30 to 3"


@pytest.mark.parametrize(
    ("words", "seen"),
    [("x > 3", "3 and 3"), ("all > 0", "−30 to 3 and 0"), ("x < all", "3 and −30 to 3")],
)
def test_words_that_no_longer_hold_are_left_out_and_said(told, words: str, seen: str):
    one = told("{x} {all}", headline="{x}", holds=[words], x=Q, all=THREE)
    assert not one.text and not one.headline
    assert f"it states {words}, but the runs give {seen}" in one.missing


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("x = 3", "holds: 'x = 3' should have the form 'rep < fed'"),
        ("x < z", "unknown number 'z'"),
        ("x.place < 3", "{x.place} cannot be computed (it is text"),
    ],
)
def test_words_that_cannot_be_checked_are_an_error(told, words: str, error: str):
    with pytest.raises(PfedrlError, match=re.escape(error)):
        told("{x}", holds=[words], x=Q)
