"""Settings: the project's own files are valid, and mistakes are explained in one line."""

import re
from pathlib import Path

import pytest

from pfedrl.algorithms.tabular.qavg import QAvg
from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import load
from pfedrl.core.settings import read_yaml, validate
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import RULES, Project
from tests.projects import AVERAGING, BUDGET, EXPERIMENT, ROOT, project, write_paper

SCALES = sorted(path.stem for path in (ROOT / "workflow" / "scales").glob("*.yaml"))


@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_of_every_scale_is_valid(scale: str):
    project = Project(ROOT)
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            if project.budget(project.scale(scale), paper, experiment) is not None:
                names = [cell.name for cell in cells(project, paper, experiment, scale)]
                assert names and len(names) == len(set(names))


def test_smoke_gives_no_verdict():
    assert not Project(ROOT).scale("smoke").verdicts


@pytest.mark.parametrize("scale", SCALES)
def test_only_the_record_writes_figures_outside_its_own_results(scale: str):
    folder = Path(Project(ROOT).scale(scale).figures)
    assert folder.is_relative_to("paper_figures" if scale == "record" else f"results/{scale}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("- 1", "must hold keys"),
        ("", "must hold keys"),
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is given twice"),
        ("a: {b: 1, c: [{d: 1, d: 1}]}", "line 1: the key 'd' is given twice"),
        (None, "read"),
    ],
)
def test_a_bad_file_is_named_in_one_line(tmp_path: Path, text: str | None, message: str):
    path = tmp_path / "p.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PfedrlError, match=message) as caught:
        read_yaml(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_merge_brings_may_be_overwritten(tmp_path: Path):
    path = tmp_path / "p.yaml"
    path.write_text(
        "a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, x: 4}\nd: {<<: [*a, *b], y: 5}\n"
    )
    found = read_yaml(path)
    assert found["b"] == {"x": 3, "y": 2}
    assert found["c"] == {"x": 4, "y": 2}
    assert found["d"] == {"x": 1, "y": 5}


def test_a_printed_number_keeps_its_digits_and_need_not_have_an_error():
    qavg, pfedrl_rep = (Project(ROOT).paper(name) for name in ("qavg", "pfedrl_rep"))
    third = qavg.artifacts["table1"].printed[2]
    assert (str(third.value), third.half_unit) == ("34.80", pytest.approx(0.005))
    # Table 1 prints errors of 0.00, Tables 3 and 4 print none
    assert sum(row.error == 0 for row in qavg.artifacts["table1"].printed) == 8
    for table in ("table3", "table4"):
        assert [row.error for row in pfedrl_rep.artifacts[table].printed] == [None] * 21
        assert pfedrl_rep.artifacts[table].printed[0].half_unit == 0.5


def test_a_file_of_printed_numbers_needs_its_columns(tmp_path: Path):
    table = {"kind": "table", "title": "t", "draw": "d", "experiments": ["e"], "caption": "c"}
    made = project(tmp_path, {"artifacts": {"t1": table}, "printed": {"t1": []}})
    path = tmp_path / "workflow/papers/p/printed/t1.csv"
    path.write_text("experiment,variant,metric,value\ne,qavg,m,1\n")
    with pytest.raises(PfedrlError, match=r"t1.csv: the first line must be experiment,variant,"):
        made.paper("p")


def test_a_family_without_a_file_gets_the_nearest():
    with pytest.raises(PfedrlError, match="Did you mean 'random_mdp'"):
        Project(ROOT).family_defaults("random_mdb")


def test_a_misspelt_key_that_is_required_gets_its_spelling():
    """Two things are wrong then, the missing key and the unknown one; the second explains both."""
    values = {"learning_rat": 0.1, "decay": 0.5, "iterations": 8, "local_steps": 4}
    with pytest.raises(PfedrlError, match="Did you mean 'learning_rate'"):
        validate(QAvg, values, "page.yaml")


def test_an_unknown_name_is_placed_and_the_list_of_known_ones_is_short():
    with pytest.raises(PfedrlError, match=r"page\.yaml: unknown family 'windy_clif'. Did you mean"):
        load("envs", "windy_clif", "page.yaml")
    message = str(unknown("target", "x", [f"name{i}" for i in range(100)]))
    assert "100 in all" in message and message.count("name") <= 31


def test_a_default_budget_need_not_fit_every_experiment(tmp_path: Path):
    budget = BUDGET | {"algorithm": {"largest": 4, "iterations": 8}}
    made = project(tmp_path, edits={"scale/papers/p": {"default": budget}})
    assert next(cells(made, "p", "e", "s")).runnable.iterations == 8
    assert next(cells(made, "p", "theory", "s")).runnable.largest == 4


READING = {
    "id": "r", "words": "two local steps", "experiments": ["e"],
    "variants": {"random_policy": {}, "qavg": {"local_steps": 2}},
}  # fmt: skip


def test_a_reading_makes_an_experiment_that_differs_in_what_it_says_only(tmp_path: Path):
    edits = {"experiments/e/variants/left_out": {"algorithm": "qavg"}}
    made = project(tmp_path, {"readings": [READING]}, edits)
    own, read = (made.experiment("p", name) for name in ("e", "e_r"))
    assert list(made.paper("p").experiments) == ["e", "e_r", "theory"]
    assert read.title == "t, two local steps"
    assert list(read.variants) == ["qavg", "random_policy"]
    assert read.variants["qavg"] == AVERAGING | {"local_steps": 2}
    assert (read.family, read.sweep, read.settings) == (own.family, own.sweep, own.settings)
    assert "comparison_e_r" in made.paper("p").artifacts
    assert made.place("p", "e_r") == "workflow/papers/p/readings.yaml, r"


def test_a_reading_of_two_experiments_may_name_what_only_one_has(tmp_path: Path):
    fewer = EXPERIMENT | {"variants": {"random_policy": {}}}
    both = READING | {"experiments": ["e", "f"]}
    made = project(tmp_path, {"readings": [both]}, {"experiments/f": fewer})
    assert list(made.experiment("p", "e_r").variants) == ["qavg", "random_policy"]
    assert list(made.experiment("p", "f_r").variants) == ["random_policy"]


def test_a_reading_may_be_of_other_environments(tmp_path: Path):
    elsewhere = READING | {"family": {"agents": 2}, "variants": {"random_policy": {}, "qavg": {}}}
    made = project(tmp_path, {"readings": [elsewhere]})
    own, read = (made.experiment("p", name) for name in ("e", "e_r"))
    assert read.family == own.family | {"agents": 2} != own.family
    assert read.variants == {name: own.variants[name] for name in ("qavg", "random_policy")}
    (reading,) = made.paper("p").readings
    assert set(reading.changed) == {"qavg", "random_policy"}, (
        "both, though their settings are the same"
    )


@pytest.mark.parametrize(
    ("name", "message"), [("all", "'all' is the name of a Snakemake rule"), ("a b", "name")]
)
def test_a_paper_is_a_rule(tmp_path: Path, name: str, message: str):
    write_paper(tmp_path, name, {"title": "t", "reference": "r", "experiments": {"e": EXPERIMENT}})
    with pytest.raises(PfedrlError, match=f"workflow/papers/{name}: .*{message}"):
        Project(tmp_path).paper(name)


def test_the_rules_that_papers_must_not_be_called_are_those_that_exist():
    files = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text() for path in files)
    found = re.findall(r"^(?:rule|checkpoint) (\w+):|^use rule \w+ as (\w+) ", text, re.MULTILINE)
    assert {name or other for name, other in found} == set(RULES)
