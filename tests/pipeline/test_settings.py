"""Settings: the project's own files are valid, and mistakes are explained in one line."""

from pathlib import Path
from typing import Any

import pytest

from pfedrl.algorithms.tabular.qavg import QAvg
from pfedrl.core.errors import USAGE, PfedrlError, unknown
from pfedrl.core.registry import load
from pfedrl.core.settings import read_yaml, validate
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Scale
from tests.projects import write_paper, write_scale

ROOT = Path(__file__).parents[2]
SCALES = sorted(path.stem for path in (ROOT / "workflow" / "scales").glob("*.yaml"))
SCALE: dict[str, Any] = {
    "scale": "s",
    "description": "d",
    "verdicts": True,
    "papers": {"qavg": {"default": {"seeds": 8, "block": 4}}},
}


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
def test_a_scale_writes_its_figures_below_its_own_results(scale: str):
    assert Path(Project(ROOT).scale(scale).figures).is_relative_to(f"results/{scale}")


def test_a_scale_file_cannot_name_the_committed_figures(tmp_path: Path):
    write_paper(tmp_path, "qavg", PAPER)
    write_scale(tmp_path, "s", SCALE | {"figures": "paper_figures"})
    with pytest.raises(PfedrlError, match="unknown key 'figures'"):
        Project(tmp_path).scale("s")


def changed(**budget: Any) -> dict[str, Any]:
    return {**SCALE, "papers": {"qavg": {"default": {"seeds": 8, "block": 4, **budget}}}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({**SCALE, "verdict": True}, "unknown key 'verdict'. Did you mean 'verdicts'?"),
        (changed(sedes=4), "papers.qavg.default: unknown key 'sedes'. Did you mean 'seeds'?"),
        (changed(seeds=-5), "papers.qavg.default.seeds: Input should be greater than 0"),
        (changed(block=0), "papers.qavg.default.block: Input should be greater than 0"),
        (changed(seeds="many"), "papers.qavg.default.seeds: Input should be a valid integer"),
    ],
)
def test_a_bad_scale_is_explained(values: dict[str, Any], message: str):
    with pytest.raises(PfedrlError) as caught:
        validate(Scale, values, "workflow/scales/s.yaml")
    assert str(caught.value).startswith("workflow/scales/s.yaml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == USAGE


PAPER: dict[str, Any] = {
    "title": "t",
    "reference": "r",
    "experiments": {"e": {"title": "t", "variants": {"qavg": {}}}},
}
PRINTED = {"experiment": "e", "variant": "qavg", "metric": "m", "value": "1.0"}
ARTIFACT = {"kind": "table", "title": "t", "draw": "d", "experiments": ["e"], "caption": "c"}


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            {"artifacts": {"t1": {**ARTIFACT, "captoin": "c"}}},
            "p/artifacts.yaml, t1: unknown key 'captoin'. Did you mean 'caption'?",
        ),
        (
            {"artifacts": {"t1": ARTIFACT}, "printed": {"t2": []}},
            "p/printed/t2.csv: unknown artifact 't2'. Did you mean 't1'?",
        ),
        (
            {"artifacts": {"t1": ARTIFACT}, "printed": {"t1": [PRINTED, PRINTED | {"value": "x"}]}},
            "p/printed/t1.csv, line 3, value: Input should be a valid decimal",
        ),
        (
            {"artifacts": {"t1": ARTIFACT}, "printed": {"t1": [{**PRINTED, "at": "0.2"}]}},
            "'along' and 'at' must be given together",
        ),
        (
            {"artifacts": {"t1": {**ARTIFACT, "printed": [PRINTED]}}, "printed": {"t1": [PRINTED]}},
            "p/artifacts.yaml, t1: 'printed' is read from workflow/papers/p/printed/t1.csv",
        ),
        ({"artifacts": {"t1": {**ARTIFACT, "experiments": ["x"]}}}, "unknown experiment 'x'"),
        (
            {
                "claims": [
                    {
                        "id": "c",
                        "words": "w",
                        "where": "Table 1",
                        "test": {
                            "kind": "holds", "experiment": "e", "variant": "v", "metric": "m",
                            "tolerence": 1.0,
                        },
                    }
                ]
            },
            "unknown key 'tolerence'. Did you mean 'tolerance'?",
        ),
        (
            {"claims": [{"id": "c", "words": "w", "where": "x", "test": {"kind": "hold"}}]},
            "p/claims.yaml, 0.test",
        ),
    ],
)  # fmt: skip
def test_a_bad_paper_is_explained(tmp_path: Path, extra: dict[str, Any], message: str):
    write_paper(tmp_path, "p", {**PAPER, **extra})
    with pytest.raises(PfedrlError) as caught:
        Project(tmp_path).paper("p")
    assert str(caught.value).startswith("workflow/papers/p")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


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
    write_paper(tmp_path, "p", {**PAPER, "artifacts": {"t1": ARTIFACT}, "printed": {"t1": []}})
    path = tmp_path / "workflow/papers/p/printed/t1.csv"
    path.write_text("experiment,variant,metric,value\ne,qavg,m,1\n")
    with pytest.raises(PfedrlError, match=r"t1.csv: the first line must be experiment,variant,"):
        Project(tmp_path).paper("p")


def test_unknown_names_get_the_nearest(tmp_path: Path):
    project = Project(ROOT)
    for ask in [
        lambda: project.scale("laptpo"),
        lambda: project.paper("qavgg"),
        lambda: project.family_defaults("random_mdb"),
    ]:
        with pytest.raises(PfedrlError, match="Did you mean"):
            ask()
    with pytest.raises(PfedrlError, match="holds the Snakefile"):
        Project.here(tmp_path)


def test_a_scale_of_an_unknown_experiment_is_refused(tmp_path: Path):
    write_paper(tmp_path, "p", PAPER)
    write_scale(tmp_path, "s", SCALE)
    with pytest.raises(PfedrlError, match="unknown paper 'qavg'"):
        Project(tmp_path).scale("s")


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
