"""Cells that an earlier experiment has too: found, and taken over bit for bit."""

import pytest
from pfedrl.pipeline.artifact import read_facts, read_run
from pfedrl.pipeline.twins import runs_with, take_rows, twin_of

from pfedrl.analysis.summaries import paths, read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import find_cell
from pfedrl.pipeline.costs import expected
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from tests.projects import write_paper, write_scale
from tests.tiny import ROOT

AVERAGING = {"iterations": 16, "local_steps": 4, "learning_rate": 0.01, "decay": 0.9}
WINDY = {"title": "WindyCliffs", "family": {"name": "windy_cliff"}}
EXPERIMENTS = {
    "few": {**WINDY, "variants": {"qavg": AVERAGING}},
    "own": {**WINDY, "variants": {"qavg": AVERAGING, "random_policy": {}}},
    "reading": {
        **WINDY,
        "variants": {"slow": {**AVERAGING, "algorithm": "qavg", "decay": 0.5},
                     "same": {**AVERAGING, "algorithm": "qavg"}, "random_policy": {}},
    },
}  # fmt: skip


@pytest.fixture
def project(tmp_path):
    (tmp_path / "envs").symlink_to(ROOT / "envs")
    paper = {"title": "A paper", "reference": "none", "experiments": EXPERIMENTS, "artifacts": {}}
    write_paper(tmp_path, "tiny", paper)
    budgets = {"default": {"seeds": 4, "block": 2}, "few": {"seeds": 1, "block": 1},
               "reading": {"seeds": 3, "block": 3}}  # fmt: skip
    made = {"scale": "laptop", "description": "tiny", "verdicts": True}
    write_scale(tmp_path, "laptop", {**made, "papers": {"tiny": budgets}})
    return Project.here(tmp_path)


def cell(project, experiment, name):
    return find_cell(project, "tiny", experiment, name, "laptop")


def twin(project, experiment, name):
    found = twin_of(project, cell(project, experiment, name), "laptop")
    return None if found is None else (found.experiment, found.name)


def rows(table):
    return [row.values() for row in table.to_pylist()]


def test_a_twin_is_an_earlier_cell_with_the_same_settings_and_no_fewer_seeds(project):
    assert twin(project, "reading", "same") == ("own", "qavg")
    assert twin(project, "reading", "random_policy") == ("own", "random_policy")
    assert twin(project, "reading", "slow") is None
    assert twin(project, "few", "qavg") is None
    assert twin(project, "own", "qavg") is None  # the earlier one has one seed of four


def test_seeds_are_found_in_the_blocks_that_have_them(project):
    owner = cell(project, "own", "qavg")
    assert [path.name for path in runs_with("laptop", owner, "0-3")] == [
        "0-2.parquet", "2-4.parquet",
    ]  # fmt: skip
    assert [path.name for path in runs_with("laptop", owner, "2-3")] == ["2-4.parquet"]


def test_what_is_taken_over_is_what_the_cell_would_have_run(project, tmp_path):
    owner, reading = cell(project, "own", "qavg"), cell(project, "reading", "same")
    blocks = [tmp_path / "0-2.parquet", tmp_path / "2-4.parquet"]
    for first, path in zip((0, 2), blocks, strict=True):
        run(owner, range(first, first + 2), path)
    run(reading, range(1, 4), tmp_path / "run.parquet")
    take_rows(reading, range(1, 4), blocks, tmp_path / "taken.parquet")
    (ran, said), (taken, facts) = (
        read_run(tmp_path / f"{name}.parquet") for name in ("run", "taken")
    )
    assert sorted(map(tuple, rows(taken))) == sorted(map(tuple, rows(ran)))
    assert facts.pop("taken_from") == "own/qavg"
    measured = {"wall_seconds", "cpu_seconds", "peak_memory_mb"}
    assert {k: v for k, v in facts.items() if k not in measured} == {
        k: v for k, v in said.items() if k not in measured
    }
    halves = sum(read_facts(path)["cpu_seconds"] for path in blocks)
    assert facts["cpu_seconds"] == pytest.approx(0.75 * halves, abs=0.001)


def test_rows_of_another_cell_or_without_a_seed_are_refused(project, tmp_path):
    owner = cell(project, "own", "qavg")
    run(owner, range(2), tmp_path / "0-2.parquet")
    with pytest.raises(PfedrlError, match="other settings or other code"):
        take_rows(
            cell(project, "reading", "slow"), range(2), [tmp_path / "0-2.parquet"],
            tmp_path / "taken.parquet",
        )  # fmt: skip
    with pytest.raises(PfedrlError, match="has no seed 2"):
        take_rows(
            cell(project, "reading", "same"), range(3), [tmp_path / "0-2.parquet"],
            tmp_path / "taken.parquet",
        )  # fmt: skip
    assert not (tmp_path / "taken.parquet").exists()


def test_time_is_counted_where_the_rows_were_run(project, tmp_path):
    slow, taken = tmp_path / "slow.parquet", tmp_path / "taken.parquet"
    run(cell(project, "own", "qavg"), range(2), tmp_path / "own.parquet")
    run(cell(project, "reading", "slow"), range(2), slow)
    take_rows(cell(project, "reading", "same"), range(2), [tmp_path / "own.parquet"], taken)
    summarise([slow, taken], *paths(tmp_path, "tiny", "reading"))
    facts = read_summary(tmp_path, "tiny", "reading").facts
    assert facts["cpu_seconds"] == read_facts(slow)["cpu_seconds"]
    assert facts["cells"]["same"]["cpu_seconds"] == read_facts(taken)["cpu_seconds"]


def test_taking_over_costs_no_time(project):
    cost = expected(project, cell(project, "reading", "same"), "laptop", "0-3")
    assert cost is not None
    assert cost.seconds == 0
