"""Kills, broken files and mistakes: one clear message, and nothing lost."""

from pathlib import Path

import pytest

from pfedrl.core.parquet import read_table
from tests.workflow.conftest import FIGURES, PAPER, Tiny, copy_of, gated


def test_killed_edited_and_run_again_there_is_one_version_in_the_artifact(
    new_project: Tiny, tmp_path: Path
):
    """Kill, mend, the same command: what the earlier code had done is not gone on from."""
    tiny, run = gated(new_project), new_project.run()
    tiny.start_and_kill(run, until=lambda: 3 in tiny.rounds())
    assert (tiny.root / run).with_suffix(".checkpoint").exists()
    tiny.open_gate()
    tiny.make("--unlock")
    untouched = copy_of(tiny, tmp_path / "untouched")
    learner = "pfedrl/algorithms/tabular/learner.py"
    tiny.replace(learner, "generator(seed, Purpose.INITIAL).random(rows)", "np.zeros(rows)")
    afresh = copy_of(tiny, tmp_path / "afresh")
    (afresh.root / run).with_suffix(".checkpoint").unlink()

    untouched.make(run)
    assert untouched.rounds() == [1, 2, 3, 3, 4], "without an edit it goes on"
    tiny.make(run)
    assert tiny.rounds() == [1, 2, 3, 1, 2, 3, 4]
    log = Path(run.replace("/runs/", "/logs/runs/")).with_suffix(".log")
    assert "was written with other code; the run starts over" in (tiny.root / log).read_text()
    afresh.make(run)
    new, same, old = (read_table(t.root / run)[0].to_pylist() for t in (tiny, afresh, untouched))
    assert new == same != old


def test_a_truncated_artifact_is_named_with_its_remedy(project: Tiny):
    before = project.files("results/runs")
    numbers = project.files(f"{FIGURES}/tiny")
    name = project.run("random/qavg_kappa=0")
    (project.root / name).write_bytes(before[name][:-20])
    done = project.snakemake("tiny_table1")
    assert done.returncode != 0
    assert f"rm {name} && snakemake --cores all {name}" in done.stdout
    assert "Traceback" not in done.stdout
    assert project.files("results/runs") == {**before, name: before[name][:-20]}
    assert project.files(f"{FIGURES}/tiny") == numbers
    (project.root / name).unlink()
    project.make(name)
    project.make("tiny_table1")
    csv = f"{FIGURES}/tiny/table1.csv"
    assert project.files(f"{FIGURES}/tiny")[csv] == numbers[csv]


def artifact(**changes: object) -> dict:
    return {"figure1": {**PAPER["artifacts"]["figure1"], **changes}}


LINES = [{"cell": "qavgg", "metric": "objective"}]
PANELS = {"panels": [{"title": "t", "lines": LINES}]}


@pytest.mark.parametrize(
    ("file", "values", "arguments", "message"),
    [
        ("", {}, ["--config", "scale=laptpo"], "unknown scale 'laptpo'. Did you mean 'laptop'?"),
        ("", {}, ["results/published/x/0-4.parquet"], "unknown target 'results/published/x"),
        ("", {}, ["--config", "sclae=smoke"], "unknown setting 'sclae'. Did you mean 'scale'?"),
        ("", {}, ["--config", "scale=smoke", "tiny"], "'tiny' stands after --config"),
        ("", {}, ["tinny"], "unknown target 'tinny'. Did you mean 'tiny'?"),
        ("", {}, [f"{FIGURES}/tiny/table2.md"], f"Did you mean '{FIGURES}/tiny/table1.md'?"),
        ("papers/tiny/artifacts", artifact(draw="curve_panels", options=PANELS), [],
         "figure1.options, panels.0: unknown cell 'qavgg'. Did you mean 'qavg'?"),
        ("style", {"algorithms": {"qavgg": {"colour": "#000000"}}}, [],
         "workflow/style.yaml: unknown algorithm 'qavgg'. Did you mean 'qavg'?"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_before_anything_runs(
    new_project: Tiny, file: str, values: dict, arguments: list[str], message: str
):
    """Every other mistake in a paper's or a scale's file: tests/analysis/test_check.py."""
    if file:
        new_project.write(f"workflow/{file}.yaml", values)
    done = new_project.snakemake(*arguments)
    assert done.returncode in (1, 2), done.stdout  # Snakemake's own, or ours
    lines = [line for line in done.stdout.splitlines() if line.startswith("pfedrl: ")]
    assert len(lines) == 1 and message in lines[0]
    assert file or len(lines[0]) < 300, "not every file that could be asked for"
    assert "Traceback" not in done.stdout and "The report is" not in done.stdout
    assert not (new_project.root / "results").exists()
