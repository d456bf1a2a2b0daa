"""Settings that cannot lie: each mistake here once ran, or failed only hours later."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from pfedrl.analysis.check import check_paper
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.claim import Test as ClaimTest
from pfedrl.pipeline.project import RULES, Project
from tests.projects import write_paper, write_scale

ROOT = Path(__file__).parents[2]
AVERAGING = {"iterations": 64, "local_steps": 4, "learning_rate": 0.1, "decay": 0.9}
EXPERIMENT = {
    "title": "t",
    "family": {"name": "random_mdp", "around_centre": True},
    "sweep": {"family.kappa": [0, 0.25]},
    "variants": {"qavg": AVERAGING, "random_policy": {}},
}
THEORY = {"title": "t", "variants": {"lemma1": {"algorithm": "qavg_lemma1"}}}
ARTIFACT = {"kind": "table", "title": "t", "draw": "d", "experiments": ["e"], "caption": "c"}
PRINTED_LEAST = {
    "kind": "printed_least", "artifact": "t1", "option": "printed_seconds", "least": "qavg",
}  # fmt: skip
TIMED = ARTIFACT | {
    "draw": "control_table",
    "options": {"floor": "random_policy", "ceiling": "dqn", "printed_seconds": {"dqn": 3}},
}
BUDGET = {"seeds": 4, "block": 4}
READING = {
    "id": "r", "words": "two local steps", "experiments": ["e"],
    "variants": {"random_policy": {}, "qavg": {"local_steps": 2}},
}  # fmt: skip


def project(
    root: Path, budgets: dict[str, Any] | None = None, name: str = "p", **changes: Any
) -> Project:
    """A paper of two experiments and a scale; families come from the real folder."""
    page = {"title": "t", "reference": "r", "experiments": {"e": EXPERIMENT, "theory": THEORY}}
    write_paper(root, name, page | changes)
    papers = {name: budgets or {"default": BUDGET}}
    scale = {"scale": "s", "description": "d", "verdicts": True, "papers": papers}
    write_scale(root, "s", scale)
    (root / "envs").symlink_to(ROOT / "envs")
    return Project(root)


def expand(made: Project, experiment: str = "e") -> list[str]:
    return [cell.name for cell in cells(made, "p", experiment, "s")]


def with_experiment(**changes: Any) -> dict[str, Any]:
    return {"experiments": {"e": EXPERIMENT | changes, "theory": THEORY}}


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        (
            {"e": BUDGET | {"algorithm": {"iteratoins": 8}}},
            "workflow/scales/s.yaml, papers.p.e.algorithm: unknown variant's setting "
            "'iteratoins'. Did you mean 'iterations'?",
        ),
        (
            {"e": BUDGET | {"variants": {"qavgg": {"iterations": 8}}}},
            "papers.p.e.variants: unknown variant 'qavgg'. Did you mean 'qavg'?",
        ),
        (
            {"e": BUDGET | {"variants": {"qavg": {"iteratoins": 8}}}},
            "papers.p.e.variants.qavg: unknown variant's setting 'iteratoins'",
        ),
        (
            {"default": BUDGET | {"algorithm": {"epsiodes": 8}}},
            "papers.p.default.algorithm: unknown variant's setting 'epsiodes'",
        ),
        (
            {"e": BUDGET | {"family": {"held_uot": 8}}},
            "papers.p.e.family: unknown family's setting 'held_uot'. Did you mean 'held_out'?",
        ),
        ({"e": BUDGET | {"family": {"kappa": 1}}}, "'kappa' is swept by p/e"),
        ({"e": BUDGET | {"algorithm": {"iterations": "many"}}}, "iterations"),
    ],
)
def test_a_budget_shortens_something(tmp_path: Path, budgets: dict, message: str):
    with pytest.raises(PfedrlError, match=re.escape(message)):
        expand(project(tmp_path, budgets))


def test_a_default_budget_need_not_fit_every_experiment(tmp_path: Path):
    made = project(tmp_path, {"default": BUDGET | {"algorithm": {"largest": 4, "iterations": 8}}})
    assert expand(made) and expand(made, "theory")
    assert next(cells(made, "p", "theory", "s")).runnable.largest == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sweep": {"algorithm.local_stesp": [1, 2, 4]}},
            "workflow/papers/p/experiments.yaml, e.sweep: unknown setting of the variants "
            "'local_stesp'. Did you mean 'local_steps'?",
        ),
        ({"sweep": {"family.kapa": [1]}}, "e.family: unknown key 'kapa'. Did you mean 'kappa'?"),
        ({"sweep": {"family.kappa": []}}, "e.sweep.family.kappa: List should have at least 1"),
        ({"variants": {}}, "e.variants: Dictionary should have at least 1 item"),
        ({"family": None}, "'family.kappa' is swept, but there is no family"),
        ({"sweep": {"family.kappa": [0.5, 0.5]}}, "the cell 'qavg_kappa=0.5' is defined twice"),
        (
            {"sweep": {"family.kappa": [0.5, 0.50000001]}},
            "the cell 'qavg_kappa=0.5' is defined twice",
        ),
        (
            {"variants": {"qavg": AVERAGING, "qavg_local_steps=1": {"algorithm": "random_policy"}},
             "sweep": {"algorithm.local_steps": [1, 4]}},
            "the cell 'qavg_local_steps=1' is defined twice",
        ),
    ],
)  # fmt: skip
def test_a_sweep_has_a_cell_a_point(tmp_path: Path, changes: dict, message: str):
    with pytest.raises(PfedrlError, match=re.escape(message)):
        expand(project(tmp_path, **with_experiment(**changes)))


def test_a_control_without_the_swept_key_runs_once(tmp_path: Path):
    changes = with_experiment(sweep={"algorithm.local_steps": [1, 4]})
    assert expand(project(tmp_path, **changes)) == [
        "qavg_local_steps=1", "qavg_local_steps=4", "random_policy"
    ]  # fmt: skip


def claim(rest: dict[str, Any] | None = None, **test: Any) -> dict[str, Any]:
    return {"claims": [{"id": "c", "words": "w", "where": "x", "test": test, **(rest or {})}]}


GREATER = {"kind": "greater", "experiment": "e", "metric": "centre_value",
           "greater": "qavg_kappa=0", "smaller": "random_policy_kappa=0"}  # fmt: skip
MONOTONE = {"kind": "monotone", "experiment": "e", "variant": "qavg", "metric": "centre_value",
            "along": "kappa", "direction": "falls"}  # fmt: skip
ROW = {"experiment": "e", "variant": "qavg", "metric": "centre_value", "along": "kappa",
       "at": "0.25", "value": "1.0"}  # fmt: skip


def printed(**changes: str) -> dict[str, Any]:
    return {"artifacts": {"t1": ARTIFACT}, "printed": {"t1": [ROW, ROW | changes]}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            claim(**GREATER | {"greater": "qavg_kapa=0"}),
            "workflow/papers/p/claims.yaml, c, e: unknown cell 'qavg_kapa=0'. "
            "Did you mean 'qavg_kappa=0'?",
        ),
        (
            claim(**GREATER | {"metric": "center_value"}),
            "unknown metric 'center_value'. Did you mean 'centre_value'?",
        ),
        # a control does not settle, and nobody is looked at in new environments here
        (claim(**GREATER | {"metric": "settled_at"}), "e/random_policy_kappa=0: unknown metric"),
        (claim(**GREATER | {"metric": "held_out_objective"}), "unknown metric 'held_out_obj"),
        (claim({"test": [MONOTONE, GREATER | {"smaller": "r"}]}), "e: unknown cell 'r'"),
        (claim({"floor": {"cell": "zero"}}, **GREATER), "c, e: unknown cell 'zero'"),
        (claim({"ceiling": {"cell": "best"}}, **GREATER), "c, e: unknown cell 'best'"),
        (claim(**GREATER, reached="arrived"), "unknown metric 'arrived'"),
        (
            claim(**GREATER, ends="iterations"),
            "c, ends (a metric, or iteration, round, episode, frame), e/random_policy_kappa=0: "
            "unknown metric 'iterations'",
        ),
        (claim(**MONOTONE | {"variant": "qavgg"}), "unknown variant 'qavgg'. Did you mean 'qavg'?"),
        (claim(**MONOTONE | {"along": "kapa"}), "unknown swept key 'kapa'. Did you mean 'kappa'?"),
        (claim(**MONOTONE | {"points": [0, 0.3]}), "unknown value of kappa '0.3'"),
        (
            claim(kind="holds", experiment="theory", variant="lemma1", metric="margn"),
            "unknown metric 'margn'. Did you mean 'margin'?",
        ),
        (printed(variant="soft_pavg"), "p/printed/t1.csv, line 3, e: unknown variant 'soft_pavg'"),
        (printed(at="0.3"), "t1.csv, line 3, e: unknown value of kappa '0.3'"),
        (printed(metric="objektive"), "unknown metric 'objektive'. Did you mean 'objective'?"),
    ],
)
def test_what_is_asked_for_will_be_measured(tmp_path: Path, changes: dict, message: str):
    made = project(tmp_path, **changes)
    with pytest.raises(PfedrlError, match=re.escape(message)):
        check_paper(made, "p")


def test_what_does_not_run_is_not_measured(tmp_path: Path):
    variants = {"qavg": AVERAGING, "dqn": {"algorithm": "best_found"}}
    changes = with_experiment(variants=variants) | claim(**GREATER | {"smaller": "dqn_kappa=0"})
    with pytest.raises(PfedrlError, match="e/dqn_kappa=0 does not run: "):
        check_paper(project(tmp_path, **changes), "p")


@pytest.mark.parametrize("paper", Project(ROOT).papers)
def test_the_papers_ask_for_what_is_measured(paper: str):
    check_paper(Project(ROOT), paper)


def test_no_kind_of_claim_goes_unseen():
    """A test that names neither cell nor variant of its experiment would not be looked into."""
    kinds = get_args(get_args(ClaimTest)[0])
    assert len(kinds) > 1
    for kind in kinds:
        fields = set(kind.model_fields)
        assert "experiment" not in fields or fields & {"cell", "cells", "greater", "variant"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"experiments": {"e$(touch x)": EXPERIMENT}},
            "workflow/papers/p/experiments.yaml, e$(touch x): a name has letters, digits",
        ),
        (
            with_experiment(variants={"a;b": {**AVERAGING, "algorithm": "qavg"}}),
            "e.variants.a;b: a name has letters",
        ),
        ({"artifacts": {"fig(": ARTIFACT}}, "p/artifacts.yaml, fig(: a name has letters"),
        ({"artifacts": {"..": ARTIFACT}}, "p/artifacts.yaml, ..: a name has letters"),
        ({"artifacts": {"t1": ARTIFACT | {"experiments": ["f"]}}}, "unknown experiment 'f'"),
        (
            {"artifacts": {"comparison_e": ARTIFACT}},
            "p/artifacts.yaml, comparison_e: this name is reserved",
        ),
        (
            with_experiment(sweep={})
            | {"artifacts": {"readings_e": ARTIFACT}, "readings": [READING]},
            "p/artifacts.yaml, readings_e: this name is reserved",
        ),
        (claim(kind="agrees", artifact="t1"), "p/claims.yaml, c: unknown artifact 't1'"),
        (
            claim(**PRINTED_LEAST) | {"artifacts": {"t1": ARTIFACT}},
            "p/claims.yaml, c: unknown option 'printed_seconds'",
        ),
        (
            claim(**PRINTED_LEAST) | {"artifacts": {"t1": TIMED}},
            "p/claims.yaml, c: unknown variant 'qavg'",
        ),
        ({"claims": [claim(**GREATER)["claims"][0] | {"test": []}]}, "p/claims.yaml"),
        (claim(**GREATER, since=["qavg", "qavg"], factor=2), "'since' cannot be combined"),
        (
            {"claims": claim(**GREATER)["claims"] * 2},
            "p/claims.yaml: the id 'c' is given twice",
        ),
        (
            {"artifacts": {"t1": ARTIFACT}, "printed": {"t1": [ROW | {"experiment": "theory"}]}},
            "p/printed/t1.csv: unknown experiment 'theory'",
        ),
        (
            {"readings": [READING | {"experiments": ["e2"]}]},
            "p/readings.yaml, r: unknown experiment 'e2'",
        ),
        (
            {"readings": [READING | {"variants": {"other": {}}}]},
            "p/readings.yaml, r: unknown variant of e 'other'",
        ),
        (
            {"readings": [READING | {"variants": {}}]},
            "'experiments' and 'variants' must be given together",
        ),
        (
            {"readings": [{"id": "r", "words": "w", "family": {"agents": 2}}]},
            "'family' needs 'experiments'",
        ),
        (
            {"readings": [READING], "experiments": {"e": EXPERIMENT, "e_r": EXPERIMENT}},
            "p/readings.yaml, r: the experiment e_r is defined by experiments.yaml",
        ),
        (
            {
                "readings": [
                    READING | {"id": "a_b"},
                    READING | {"id": "b", "experiments": ["e_a"]},
                ],
                "experiments": {"e": EXPERIMENT, "e_a": EXPERIMENT},
            },
            "p/readings.yaml, b: the experiment e_a_b is defined by the reading a_b",
        ),
    ],
)
def test_names_are_plain_and_known(tmp_path: Path, changes: dict, message: str):
    with pytest.raises(PfedrlError, match=re.escape(message)) as caught:
        project(tmp_path, **changes).paper("p")
    assert "\n" not in str(caught.value)


def test_a_reading_makes_an_experiment_that_differs_in_what_it_says_only(tmp_path: Path):
    variants = EXPERIMENT["variants"] | {"left_out": {"algorithm": "qavg"}}
    declared = {"e": EXPERIMENT | {"variants": variants}, "theory": THEORY}
    made = project(tmp_path, experiments=declared, readings=[READING])
    own, read = (made.experiment("p", name) for name in ("e", "e_r"))
    assert list(made.paper("p").experiments) == ["e", "e_r", "theory"]
    assert read.title == "t, two local steps"
    assert list(read.variants) == ["qavg", "random_policy"]
    assert read.variants["qavg"] == AVERAGING | {"local_steps": 2}
    assert (read.family, read.sweep, read.settings) == (own.family, own.sweep, own.settings)
    assert "comparison_e_r" in made.paper("p").artifacts
    assert made.place("p", "e_r") == "workflow/papers/p/readings.yaml, r"


def test_a_reading_of_two_experiments_may_name_what_only_one_has(tmp_path: Path):
    fewer = {"random_policy": EXPERIMENT["variants"]["random_policy"]}
    declared = {"e": EXPERIMENT, "f": EXPERIMENT | {"variants": fewer}}
    both = READING | {"experiments": ["e", "f"]}
    made = project(tmp_path, experiments=declared, readings=[both])
    assert list(made.experiment("p", "e_r").variants) == ["qavg", "random_policy"]
    assert list(made.experiment("p", "f_r").variants) == ["random_policy"]


def test_a_reading_may_be_of_other_environments(tmp_path: Path):
    elsewhere = READING | {"family": {"agents": 2}, "variants": {"random_policy": {}, "qavg": {}}}
    made = project(tmp_path, readings=[elsewhere])
    own, read = (made.experiment("p", name) for name in ("e", "e_r"))
    assert read.family == own.family | {"agents": 2} != own.family
    assert read.variants == {name: own.variants[name] for name in ("qavg", "random_policy")}
    (reading,) = made.paper("p").readings
    assert set(reading.changed) == {"qavg", "random_policy"}, (
        "both, though their settings are the same"
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"variants": {"qavg": {"local_setps": 2}}}, "local_setps"),
        ({"family": {"agnets": 2}}, "agnets"),
    ],
)
def test_a_mistake_in_a_reading_is_found_where_it_stands(tmp_path: Path, wrong: dict, said: str):
    with pytest.raises(PfedrlError, match=rf"p/readings.yaml, r.*{said}"):
        expand(project(tmp_path, readings=[READING | wrong]), "e_r")


@pytest.mark.parametrize(
    ("name", "message"), [("all", "'all' is the name of a Snakemake rule"), ("a b", "name")]
)
def test_a_paper_is_a_rule(tmp_path: Path, name: str, message: str):
    with pytest.raises(PfedrlError, match=f"workflow/papers/{name}: .*{message}"):
        project(tmp_path, name=name).paper(name)


def test_the_rules_that_papers_must_not_be_called_are_those_that_exist():
    files = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text() for path in files)
    found = re.findall(r"^(?:rule|checkpoint) (\w+):|^use rule \w+ as (\w+) ", text, re.MULTILINE)
    assert {name or other for name, other in found} == RULES


def test_a_scale_is_called_as_its_file(tmp_path: Path):
    made = project(tmp_path)
    values = {"scale": "t", "description": "d", "verdicts": True, "papers": {}}
    write_scale(tmp_path, "s", values)
    with pytest.raises(PfedrlError, match=r"s.yaml: 'scale' must be s"):
        made.scale("s")
