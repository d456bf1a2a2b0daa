"""A mistake in a paper's or a scale's file is explained in one line, before anything runs.

Each mistake here once ran, or failed only hours later.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from pfedrl.analysis.check import check_paper
from pfedrl.core.errors import USAGE, PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.claim import PrintedLeast
from pfedrl.pipeline.claim import Test as ClaimTest
from pfedrl.pipeline.project import Project
from tests.projects import AVERAGING, EXPERIMENT, ROOT, project

QAVG = {"algorithm": "qavg", **AVERAGING}
TABLE = {
    "kind": "table", "title": "t", "draw": "tabular_control_table", "experiments": ["e"],
    "caption": "c",
}  # fmt: skip
LINE = {"cell": "qavg_kappa=0", "metric": "objective"}
PANELS = [{"title": "t", "lines": [LINE]}]
CURVES = TABLE | {"kind": "figure", "draw": "curve_panels", "options": {"panels": PANELS}}
TIMES = TABLE | {
    "draw": "control_table",
    "options": {"floor": "random_policy", "ceiling": "qavg", "printed_seconds": {"qavg": 3}},
}
ROW = {"experiment": "e", "variant": "qavg", "metric": "centre_value", "along": "kappa",
       "at": "0.25", "value": "1.0"}  # fmt: skip
AHEAD = {"kind": "ahead", "experiment": "e", "metrics": ["centre_value"],
         "ahead": {"qavg_kappa=0": ["random_policy_kappa=0"]}}  # fmt: skip
TREND = {"kind": "trend", "experiment": "e", "variants": ["qavg"], "metric": "centre_value",
         "along": "kappa", "direction": "falls"}  # fmt: skip
HOLDS = {"kind": "holds", "experiment": "theory", "variant": "lemma1", "metric": "margin"}
LEAST = {"kind": "printed_least", "artifact": "times", "option": "printed_seconds", "least": "qavg"}
READING = {"id": "r", "words": "w", "experiments": ["e"],
           "variants": {"random_policy": {}, "qavg": {"local_steps": 2}}}  # fmt: skip
PAGE: dict[str, Any] = {
    "artifacts": {"table": TABLE, "curves": CURVES, "times": TIMES},
    "printed": {"table": [ROW, ROW]},
    "claims": [
        {"id": name, "words": "w", "where": "x", "test": test}
        for name, test in (("c", AHEAD), ("m", TREND), ("h", HOLDS), ("l", LEAST))
    ],
    "readings": [READING],
}  # fmt: skip


def checked(root: Path, edits: dict[str, Any]) -> None:
    """Everything that is checked before the first run."""
    made = project(root, PAGE, edits)
    for experiment in made.paper("p").experiments:
        list(cells(made, "p", experiment, "s"))
    check_paper(made, "p")


SCALE, E, TEST = "scale/papers/p", "experiments/e", "claims/0/test"
PANEL = "artifacts/curves/options/panels/0"
MISTAKES: list[tuple[dict[str, Any], str]] = [
    # a scale
    ({"scale/verdict": True}, "scales/s.yaml: unknown key 'verdict'. Did you mean 'verdicts'?"),
    ({"scale/figures": "paper_figures"}, "unknown key 'figures'"),
    ({"scale/scale": "t"}, "scales/s.yaml: 'scale' must be s"),
    ({"scale/papers/q": {}}, "scales/s.yaml: unknown paper 'q'"),
    ({f"{SCALE}/f": {"seeds": 8, "block": 4}}, "scales/s.yaml: unknown experiment 'f'"),
    ({f"{SCALE}/default/sedes": 4}, "papers.p.default: unknown key 'sedes'. Did you mean 'seeds'?"),
    ({f"{SCALE}/default/seeds": -5}, "papers.p.default.seeds: Input should be greater than 0"),
    ({f"{SCALE}/default/block": 0}, "papers.p.default.block: Input should be greater than 0"),
    ({f"{SCALE}/e/seeds": "many"}, "papers.p.e.seeds: Input should be a valid integer"),
    (
        {f"{SCALE}/e/algorithm": {"iteratoins": 8}},
        "scales/s.yaml, papers.p.e.algorithm: unknown variant's setting 'iteratoins'. Did you mean "
        "'iterations'?",
    ),
    ({f"{SCALE}/e/algorithm": {"iterations": "many"}}, "iterations"),
    (
        {f"{SCALE}/default/algorithm": {"epsiodes": 8}},
        "papers.p.default.algorithm: unknown variant's setting 'epsiodes'",
    ),
    ({f"{SCALE}/e/variants": {"qavgg": {}}}, "unknown variant 'qavgg'. Did you mean 'qavg'?"),
    (
        {f"{SCALE}/e/variants": {"qavg": {"iteratoins": 8}}},
        "papers.p.e.variants.qavg: unknown variant's setting 'iteratoins'",
    ),
    ({f"{SCALE}/e/family": {"held_uot": 8}}, "papers.p.e.family: unknown family's setting 'held"),
    ({f"{SCALE}/e/family": {"kappa": 1}}, "'kappa' is swept by p/e"),
    # an experiment
    ({"experiments/e$(touch x)": EXPERIMENT}, "experiments.yaml, e$(touch x): a name has letters"),
    ({f"{E}/variants/a;b": QAVG}, "e.variants.a;b: a name has letters"),
    ({f"{E}/swep": {}}, "p/experiments.yaml, e: unknown key 'swep'. Did you mean 'sweep'?"),
    ({f"{E}/variants": {}}, "e.variants: Dictionary should have at least 1 item"),
    ({f"{E}/variants/qavgg": {}}, "variants.qavgg: unknown algorithm 'qavgg'. Did you mean 'qavg"),
    ({f"{E}/variants/qavg/decya": 1}, "variants.qavg: unknown key 'decya'. Did you mean 'decay'?"),
    ({f"{E}/settings": {"iteratoins": 32}}, "e.settings: unknown setting of the variants 'iterat"),
    ({f"{E}/family": {}}, "e.family: the key 'name' is missing"),
    ({f"{E}/family": {"name": "random_mpd"}}, "unknown family 'random_mpd'. Did you mean"),
    ({f"{E}/family": None}, "'family.kappa' is swept, but there is no family"),
    ({f"{E}/sweep": {"kappa": [1]}}, "must be family.<key> or algorithm.<key>"),
    ({f"{E}/sweep": {"algorithm.local_stesp": [1]}}, "e.sweep: unknown setting of the variants"),
    ({f"{E}/sweep": {"family.kapa": [1]}}, "e.family: unknown key 'kapa'. Did you mean 'kappa'?"),
    ({f"{E}/sweep": {"family.kappa": []}}, "e.sweep.family.kappa: List should have at least 1"),
    ({f"{E}/sweep": {"family.kappa": [0.5, 0.5]}}, "the cell 'qavg_kappa=0.5' is defined twice"),
    ({f"{E}/sweep": {"family.kappa": [0.5, 0.50000001]}}, "'qavg_kappa=0.5' is defined twice"),
    ({f"{E}/sweep": {"algorithm.local_steps": [1, 4]},
      f"{E}/variants/qavg_local_steps=1": {"algorithm": "random_policy"}},
     "the cell 'qavg_local_steps=1' is defined twice"),
    # a reading
    ({"readings/0/experiments": ["f"]}, "p/readings.yaml, r: unknown experiment 'f'"),
    ({"readings/0/variants": {"other": {}}}, "p/readings.yaml, r: unknown variant of e 'other'"),
    ({"readings/0/variants": {}}, "'experiments' and 'variants' must be given together"),
    ({"readings/0": {"id": "r", "words": "w", "family": {"agents": 2}}}, "'family' needs 'exper"),
    ({"experiments/e_r": EXPERIMENT}, "readings.yaml, r: the experiment e_r is defined by"),
    ({"experiments/e_a": EXPERIMENT, "readings/0/id": "a_b",
      "readings/1": READING | {"id": "b", "experiments": ["e_a"]}},
     "readings.yaml, b: the experiment e_a_b is defined by the reading a_b"),
    ({"readings/0/variants/qavg": {"local_setps": 2}}, "p/readings.yaml, r.variants.qavg: unknown"),
    ({"readings/0/family": {"agnets": 2}}, "p/readings.yaml, r.family: unknown key 'agnets'"),
    ({"readings/0/metrics": {"centre_value": "objektive"}}, "e_r/qavg_kappa=0: unknown"),
    # an artifact
    ({"artifacts/fig(": TABLE}, "p/artifacts.yaml, fig(: a name has letters"),
    ({"artifacts/..": TABLE}, "p/artifacts.yaml, ..: a name has letters"),
    ({"artifacts/table/captoin": "c"}, "artifacts.yaml, table: unknown key 'captoin'. Did"),
    ({"artifacts/table/experiments": ["f"]}, "artifacts.yaml, table: unknown experiment 'f'"),
    ({"artifacts/table/may_miss": ["theory"]}, "yaml, table: unknown experiment 'theory'"),
    ({"artifacts/table/draw": "curve_panel"}, "table.draw: unknown drawing 'curve_panel'. Did you"),
    ({"artifacts/comparison_e": TABLE}, "artifacts.yaml, comparison_e: this name is reserved"),
    ({"artifacts/readings_e": TABLE, f"{E}/sweep": {}}, "readings_e: this name is reserved"),
    # its options
    ({"artifacts/table/options": {"limits": 1}}, "table.options: unknown key 'limits'"),
    ({"artifacts/times/options": {"floor": "qavg", "printed_seconds": {"qavg": 3}}},
     "times.options, ceiling: Field required"),
    ({"artifacts/times/options/floor": "zero"}, "times.options, floor: unknown variant 'zero'"),
    ({f"{PANEL}/titel": "t"}, "options, panels.0: unknown key 'titel'. Did you mean 'title'?"),
    ({f"{PANEL}/limits": [0]}, "options, panels.0.limits"),
    ({f"{PANEL}/lines": []}, "panels.0 has no lines"),
    ({f"{PANEL}/lines": [{"cell": "qavg"}]}, "panels.0: 'qavg' has no metric"),
    ({f"{PANEL}/lines": [LINE | {"cell": "qavg"}]}, "options, panels.0: unknown cell 'qavg'"),
    ({f"{PANEL}/lines": [LINE | {"metric": "objektive"}]}, "panels.0: unknown metric 'objektive'"),
    ({f"{PANEL}/experiment": "theory"}, "panels.0: unknown experiment of the artifact 'theory'"),
    ({f"{E}/comparison": {"metric": "objektive"}}, "yaml, e, comparison: unknown metric"),
    ({f"{E}/comparison": {"baseline": "dqn"}}, "experiments.yaml, e, comparison: unknown variant"),
    ({f"{E}/comparison": {"ceiling": {"cell": "qavg"}}}, "'ceiling' needs an experiment"),
    # its printed numbers
    ({"printed/tabel": []}, "p/printed/tabel.csv: unknown artifact 'tabel'. Did you mean 'table'?"),
    ({"artifacts/table/printed": [ROW]}, "artifacts.yaml, table: 'printed' is read from workflow"),
    ({"printed/table/1/value": "x"}, "table.csv, line 3, value: Input should be a valid decimal"),
    ({"printed/table/1/along": ""}, "table.csv, line 3: 'along' and 'at' must be given together"),
    ({"printed/table/1/experiment": "theory"}, "printed/table.csv: unknown experiment 'theory'"),
    ({"printed/table/1/variant": "dqn"}, "table.csv, line 3, e: unknown variant 'dqn'"),
    ({"printed/table/1/at": "0.3"}, "table.csv, line 3, e: unknown value of kappa '0.3'"),
    ({"printed/table/1/metric": "objektive"}, "unknown metric 'objektive'. Did you mean 'obj"),
    # a claim
    ({"claims/1/id": "c"}, "p/claims.yaml: the id 'c' is given twice"),
    ({"claims/0/test": []}, "p/claims.yaml, 0.test"),
    ({f"{TEST}/kind": "bigger"}, "p/claims.yaml, 0.test"),
    ({"claims/2/test/varient": "a"}, "unknown key 'varient'. Did you mean 'variant'?"),
    ({"claims/0/contains": ["d"]}, "c.contains: unknown claim 'd'"),
    ({f"{TEST}/ahead": {"qavg_kapa=0": ["qavg_kappa=0"]}}, "c, e: unknown cell 'qavg_kapa=0'"),
    ({f"{TEST}/metrics": ["center_value"]}, "metric 'center_value'. Did you mean 'centre_val"),
    # a control does not settle, and no policy is evaluated in new environments here
    ({f"{TEST}/metrics": ["settled_at"]}, "e/random_policy_kappa=0: unknown metric"),
    ({f"{TEST}/metrics": ["held_out_objective"]}, "unknown metric 'held_out_obj"),
    ({f"{TEST}/reached": "arrived"}, "unknown metric 'arrived'"),
    ({f"{TEST}/ends": "iterations"}, "unknown metric 'iterations'"),
    ({"claims/0/test": [TREND, AHEAD | {"ahead": {"r": ["q"]}}]}, "c, e: unknown cell 'r'"),
    ({"claims/0/floor": {"cell": "zero"}}, "c, e: unknown cell 'zero'"),
    ({"claims/0/ceiling": {"cell": "best"}}, "c, e: unknown cell 'best'"),
    ({f"{E}/variants/dqn": {"algorithm": "best_found"},
      f"{TEST}/ahead": {"qavg_kappa=0": ["dqn_kappa=0"]}},
     "e/dqn_kappa=0 does not run: "),
    ({"claims/1/test/variants": ["qavgg"]}, "unknown variant 'qavgg'. Did you mean 'qavg'?"),
    ({"claims/1/test/along": "kapa"}, "unknown swept key 'kapa'. Did you mean 'kappa'?"),
    ({"claims/1/test/points": [0, 0.3]}, "unknown value of kappa '0.3'"),
    ({"claims/2/test/metric": "margn"}, "unknown metric 'margn'. Did you mean 'margin'?"),
    ({"claims/3/test/artifact": "tabel"}, "claims.yaml, l: unknown artifact 'tabel'"),
    ({"claims/3/test/option": "seconds"}, "claims.yaml, l: unknown option 'seconds'"),
    ({"claims/3/test/least": "random_policy"}, "claims.yaml, l: unknown variant 'random_policy'"),
]  # fmt: skip


def test_the_project_without_a_mistake_is_right(tmp_path: Path):
    checked(tmp_path, {})


@pytest.mark.parametrize(("edits", "message"), MISTAKES, ids=[str(edits) for edits, _ in MISTAKES])
def test_a_mistake_is_explained(tmp_path: Path, edits: dict[str, Any], message: str):
    with pytest.raises(PfedrlError) as caught:
        checked(tmp_path, edits)
    said = str(caught.value)
    assert message in said and "\n" not in said
    assert caught.value.exit_code == USAGE


@pytest.mark.parametrize("paper", Project(ROOT).papers)
def test_the_papers_name_what_is_measured(paper: str):
    check_paper(Project(ROOT), paper)


def test_no_kind_of_claim_goes_unchecked():
    """Every test on runs says which metrics of which cells it reads."""
    tests = [
        test for page in Project(ROOT).papers.values() for c in page.claims for test in c.tests
    ]
    assert {type(test) for test in tests} == set(get_args(ClaimTest))
    for test in tests:
        assert isinstance(test, PrintedLeast) or {a.metric for a in test.asks()} >= {test.metric}


OPTIONS = """
from pfedrl.analysis.options import options_of
for page in project.papers.values():
    for name, artifact in page.artifacts.items():
        options_of(artifact, name)
"""
TABLE = """
from pfedrl.analysis.drawing import cuts_of, listed_styles, module_of
artifact = project.paper("pfedrl_rep").artifacts["table3"]
module_of(artifact)
cuts_of(project, "pfedrl_rep", artifact.experiments, "record")
listed_styles(project)
"""


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        (OPTIONS, ["matplotlib", "seaborn", "pandas", "scipy"]),
        ("import pfedrl.analysis.claims", ["matplotlib"]),
        (TABLE, ["matplotlib", "pfedrl.theory", "pfedrl.envs.traffic", "pfedrl.algorithms.td"]),
    ],
)
def test_nothing_is_imported_that_is_not_needed(code, unwanted):
    start = "import sys; from pfedrl.pipeline.project import Project; project = Project.here()"
    end = f"sys.exit(', '.join(sys.modules.keys() & {unwanted}) or 0)"
    script = "\n".join([start, code, end])
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0
