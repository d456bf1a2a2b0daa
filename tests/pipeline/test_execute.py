"""A job from settings to run file, and what is kept of one that was killed."""

from pathlib import Path

import pytest

from pfedrl.core.parquet import read_facts, read_table
from pfedrl.core.state_file import read_state, write_state
from pfedrl.pipeline import execute
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.environments import build
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.fingerprint import run_code
from tests.projects import AVERAGING, project
from tests.tiny import Killed


@pytest.fixture(params=["qavg", "soft_pavg", "proj_pavg", "random_policy", "optimal_policy"])
def cell(request: pytest.FixtureRequest, tmp_path: Path) -> Cell:
    settings = {} if request.param.endswith("_policy") else AVERAGING
    experiment = {
        "title": "t",
        "family": {"name": "random_mdp", "around_centre": True, "kappa": 0.25},
        "variants": {request.param: settings},
        "curve_points": 4,
    }
    made = project(tmp_path, edits={"experiments/e": experiment})
    return next(cells(made, "p", "e", "s"))


def test_built_environments_give_the_same_numbers(cell: Cell, tmp_path: Path):
    build(cell, range(8), tmp_path / "draws.npz")
    run(cell, range(8), tmp_path / "built.parquet", tmp_path / "draws.npz")
    run(cell, range(8), tmp_path / "fresh.parquet")
    built, fresh = (read_table(tmp_path / f"{name}.parquet")[0] for name in ("built", "fresh"))
    assert built.to_pylist() == fresh.to_pylist()


@pytest.fixture
def killed(cell: Cell, tmp_path: Path) -> Path:
    """Where a run would be that was killed in its fifth round; its checkpoint is there."""
    path = tmp_path / "run.parquet"

    def kill(done: int, total: int) -> None:
        if done == 5:
            raise Killed

    with pytest.raises(Killed):
        run(cell, range(8), path, progress=kill, checkpoint_seconds=0)
    return path


@pytest.mark.parametrize("cell", ["qavg"], indirect=True)
def test_a_checkpoint_of_other_code_is_refused_and_the_run_starts_over(
    cell: Cell, killed: Path, monkeypatch, capsys
):
    monkeypatch.setattr(execute, "run_code", lambda cell: "edited")
    rounds = []
    run(cell, range(8), killed, progress=lambda done, total: rounds.append(done))
    assert rounds[0] == 1
    assert "was written with other code; the run starts over" in capsys.readouterr().err
    assert read_facts(killed)["code"] == "edited"


@pytest.mark.parametrize("cell", ["qavg"], indirect=True)
def test_times_go_on_after_a_kill(cell: Cell, killed: Path):
    checkpoint = killed.with_suffix(".checkpoint")
    kept = read_state(checkpoint)
    assert 0 < kept["times"]["wall_seconds"] < 1000
    write_state(checkpoint, kept | {"times": {"wall_seconds": 2000.0, "cpu_seconds": 1000.0}})
    run(cell, range(8), killed)
    assert read_facts(killed)["wall_seconds"] >= 2000
    assert read_facts(killed)["cpu_seconds"] >= 1000


def test_facts_say_where_the_numbers_came_from(cell: Cell, tmp_path: Path):
    run(cell, range(2), tmp_path / "run.parquet")
    facts = read_facts(tmp_path / "run.parquet")
    assert facts["settings"] == cell.settings()
    assert facts["seeds"] == [0, 2] and facts["data"] is None
    assert facts["code"] == run_code(cell)
    assert {"python", "numpy"} <= set(facts["versions"])
    assert facts["wall_seconds"] >= 0 and facts["peak_memory_mb"] > 0 and facts["commit"]
