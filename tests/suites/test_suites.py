"""Suites on disk, what they run, and submissions, on a suite of tables that takes seconds."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfedrl.cli.benchmarking import show, value
from pfedrl.core import registry
from pfedrl.core.errors import PfedrlError
from pfedrl.core.parquet import read_table
from pfedrl.core.registry import load
from pfedrl.pipeline.new_algorithm import write
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import COMMITTED, Store
from pfedrl.suites import tuning
from pfedrl.suites.board import board
from pfedrl.suites.runs import LAYERS, RECORD, make_all, missing
from pfedrl.suites.scores import places, read_entries
from pfedrl.suites.submission import (
    FIRST,
    read_submission,
    rerun_one_of_each,
    submissions,
    unseen_jobs,
    with_submissions,
)
from pfedrl.suites.suite import cells_of, read_suite, suites
from pfedrl.suites.writing import write_board
from tests.pipeline.conftest import rewrite, tenth
from tests.processes import call
from tests.projects import AVERAGING, project, write_yaml
from tests.tiny import ROOT

# what shapes the scores of released suites: a digest that changes belongs to another version
RELEASED = {
    "attacked-1": "146e75316167", "data-1": "b3a98b250ac3", "full-1": "a32727556f2f",
    "heterogeneity-1": "f5694c7b8b85", "quick-1": "a7fe1f5734d2", "sampled-1": "cfe614df08e1",
    "tabular-1": "5d01a1cd0b5e",
}  # fmt: skip
SMALL: dict[str, Any] = {
    "suite": "small", "version": 1, "title": "Small", "description": "A small suite.",
    "seeds": 8, "alone": "optimal_policy", "spread": "κ",
    "tasks": {"tables": {
        "title": "Tables", "family": {"name": "random_mdp", "around_centre": True, "agents": 3},
        "sweep": {"family.kappa": [0, 0.5]}, "block": 8, "score": "objective",
        "floor": ["random_policy"], "ceiling": "optimal_policy", "settings": AVERAGING,
        "variants": {"qavg": {}, "soft_pavg": {}, "random_policy": {}, "optimal_policy": {}},
    }},
}  # fmt: skip


def quiet(done: int, total: int) -> None:
    """Progress that nobody watches."""


@pytest.fixture(autouse=True)
def outside() -> Iterator[None]:
    yield
    for taken in registry.OUTSIDE.values():
        taken.clear()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose suite was run; not to be changed."""
    made = project(tmp_path_factory.mktemp("suites"))
    write_yaml(made.root / "workflow/suites/small.yaml", SMALL)
    suite = read_suite(made, "small")
    make_all(made.root, list(missing(made, suite)), 1, quiet)
    return made.root


@pytest.fixture
def small(ran: Path, tmp_path: Path) -> Project:
    """The same, to change."""
    shutil.copytree(ran, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


@pytest.mark.parametrize("name", suites(Project.here(ROOT)))
def test_what_shapes_scores_in_a_released_suite_stays(name: str):
    suite = read_suite(Project.here(ROOT), name)
    assert suite.contents() == RELEASED[suite.name]


TUNED = sorted((ROOT / "workflow" / "suites" / "tuning").glob("*/*.json"))


@pytest.mark.parametrize("path", TUNED, ids=lambda path: path.stem)
def test_a_tuned_variant_has_the_best_settings_that_tuning_found(path: Path):
    suite = read_suite(Project.here(ROOT), path.parent.name)
    found = tuning.Tuned.model_validate_json(path.read_text())
    assert found.suite == suite.name and found.seeds[0] >= tuning.FIRST >= suite.seeds
    name = {"qavg": "central"}.get(path.stem, path.stem)
    assert suite.trials[name] == len(found.scores)
    for task in suite.tasks.values():
        ran = task.settings | task.variants[name]
        default = load("algorithms", ran.get("algorithm", name)).model_fields
        for key, best in found.best.items():
            assert ran.get(key, default[key].default) == best


def test_other_algorithms_do_not_change_what_shapes_scores_and_budgets_do():
    suite = read_suite(Project.here(ROOT), "quick")
    _, more = suite.with_algorithm("dqn_avg", {"local_steps": 7})
    assert more.contents() == suite.contents()
    assert suite.model_copy(update={"seeds": 11}).contents() != suite.contents()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"alone": "dqn"}, "the variant 'dqn' is missing"),
        ({"readings": {"qavg": ["other"]}}, "the variant 'other' is missing"),
        ({"version": 0}, "version"),
    ],
)
def test_a_suite_that_names_what_it_lacks_is_refused(small: Project, edit: Any, message: str):
    write_yaml(small.root / "workflow/suites/small.yaml", SMALL | edit)
    with pytest.raises(PfedrlError, match=message):
        read_suite(small, "small")


def test_controls_score_zero_and_one_on_every_seed(small: Project):
    suite = read_suite(small, "small")
    found, lacking = read_entries(small, suite)
    scores = {one.name: one.scores for one in found}
    assert not lacking and len(places(suite)) == 2
    np.testing.assert_array_equal(scores["random_policy"], 0.0)
    np.testing.assert_array_equal(scores["optimal_policy"], 1.0)
    assert (scores["qavg"] < 1 + 1e-6).all() and scores["qavg"].mean() > 0.5


def test_only_ones_own_algorithm_is_run_and_the_same_command_resumes(small: Project):
    mine, _ = write(small.root / "mine" / "bench_mine.py", "tabular")
    own, suite = read_suite(small, "small").with_algorithm(str(mine), {"kept": 0.2})
    assert own == "bench_mine_kept=0.2"
    jobs = list(missing(small, suite, own))
    assert {job.cell.variant for job in jobs} == {own} and len(jobs) == 2
    make_all(small.root, jobs[:1], 1, quiet)  # then interrupted
    assert [job.cell.name for job in missing(small, suite, own)] == [jobs[1].cell.name]
    make_all(small.root, jobs[1:], 1, quiet)
    found = board(small, suite, layers=LAYERS)
    assert {row.name for row in found.rows} >= {own, "qavg", "soft_pavg"}
    assert not found.not_run


def test_two_processes_make_the_runs_of_one(small: Project, tmp_path: Path):
    suite, runs = read_suite(small, "small"), Path("results", "runs")
    shutil.move(small.root / runs, tmp_path / "one" / runs)
    seen: list[tuple[int, int]] = []
    make_all(small.root, list(missing(small, suite)), 2, lambda *now: seen.append(now))
    assert seen[-1][0] == seen[-1][1]
    for cell in cells_of(small, suite):
        ours, theirs = (
            store.read(cell, store.find(cell, cell.seeds, ["local"]).parts)[0]
            for store in (Store(small.root), Store(tmp_path / "one"))
        )
        assert all(np.array_equal(ours[point], theirs[point]) for point in ours)


def test_the_record_has_committed_runs_alone(
    small: Project, capsys: pytest.CaptureFixture[str]
):  # fmt: skip
    suite = read_suite(small, "small")
    nobody = board(small, suite, layers=RECORD)
    assert nobody.rows == [] and len(nobody.not_run) == 4
    show(nobody.plain()["table"], own="QAvg")  # says so, and does not fail
    assert "QAvg: not run (0 of 8 seeds)" in capsys.readouterr().out
    assert len(board(small, suite, layers=LAYERS).rows) == 4


def test_an_algorithm_without_all_seeds_is_named_with_the_reason(small: Project):
    _, suite = read_suite(small, "small").with_algorithm("soft_pavg", {"local_steps": 2})
    found = board(small, suite, layers=LAYERS)
    assert len(found.rows) == 4
    assert found.not_run == ["SoftPAvg, local steps=2: not run (0 of 8 seeds)"]


def test_files_of_a_leaderboard(small: Project, tmp_path: Path):
    found = board(small, read_suite(small, "small"), layers=LAYERS)
    written = {path.name for path in write_board(small, found, tmp_path / "board", "digest")}
    again = {path.name: path.read_bytes() for path in (tmp_path / "board").iterdir()}
    assert {"leaderboard.csv", "leaderboard.md", "leaderboard.json", "scores.png"} <= written
    assert "heterogeneity.png" in written and "agents.png" not in written  # no agents recorded
    write_board(small, found, tmp_path / "board", "digest")
    assert again == {path.name: path.read_bytes() for path in (tmp_path / "board").iterdir()}


@pytest.fixture
def submitted(small: Project, tmp_path: Path) -> Project:
    """An algorithm was written, benched and packed by commands; its own file and runs are gone."""
    folder = small.root / "mine"
    mine, _ = write(folder / f"sent_{tmp_path.name}.py", "tabular")
    for line, said in (
        (("submit", mine.name, "--suite", "small", "--name", "first"), "pfedrl bench"),
        (("bench", mine.name, "--suite", "small", "--cores", "1"), f"> {mine_label(mine)}"),
        (("submit", mine.name, "--suite", "small", "--name", "first"), "submissions/first"),
    ):
        shutil.copy2(mine, small.root / mine.name)
        variables = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        done = call("pfedrl", *line, folder=small.root, variables=variables, together=True)
        assert said in done.stdout
    shutil.rmtree(folder)
    (small.root / mine.name).unlink()
    for path in (small.root / "results" / "runs").glob("sent_*"):
        shutil.rmtree(path)
    return small


def mine_label(path: Path) -> str:
    return "".join(word.capitalize() for word in path.stem.split("_"))


def test_a_submission_is_on_the_board_and_comes_out_the_same(submitted: Project):
    assert submissions(submitted) == ["first"]
    suite, stores = with_submissions(submitted, read_suite(submitted, "small"))
    found = board(submitted, suite, stores, LAYERS)
    assert any(row.name.startswith("sent_") for row in found.rows) and not found.not_run
    one = read_submission(submitted, "first")
    assert [answer.answer for answer in rerun_one_of_each(submitted, one)] == ["same bits"]


def test_a_tampered_submission_is_found(submitted: Project):
    one = read_submission(submitted, "first")
    before = one.unseen()
    for path in (one.folder / COMMITTED).rglob("*.parquet"):
        rewrite(path, value=tenth)
    with pytest.raises(PfedrlError, match="not the file that the manifest lists"):
        board(submitted, *_with(submitted), LAYERS)
    store = Store(one.folder)
    for folder in list(store.manifest):  # and the manifest with it
        path = COMMITTED / folder / "0-8.parquet"
        store.list_file(folder, path, read_table(one.folder / path)[1])
    forged = read_submission(submitted, "first")
    assert [answer.answer for answer in rerun_one_of_each(submitted, forged)] == ["differs"]
    assert forged.unseen() != before


def _with(of: Project) -> Any:
    return with_submissions(of, read_suite(of, "small"))


def test_unseen_seeds_are_drawn_from_the_submission_and_scored(submitted: Project):
    one = read_submission(submitted, "first")
    seeds = one.unseen()
    assert len(set(seeds)) == 3 and min(seeds) >= FIRST and one.unseen() == seeds
    make_all(submitted.root, unseen_jobs(submitted, one), 1, quiet)
    found, _ = read_entries(submitted, one.suite, {}, sorted(seeds))
    (own,) = [entry for entry in found if entry.name == one.variant]
    assert own.scores.shape == (2, 3) and 0 < own.scores.mean() < 1


def test_tuning_tries_a_grid_on_seeds_that_are_not_scored(small: Project):
    suite = read_suite(small, "small")
    grid = tuning.read_grid(["local_steps=1,2,4,8"], value)
    tried = tuning.trials(suite, "qavg", grid, 3)
    assert len(tried) == 3 and tried == tuning.trials(suite, "qavg", grid, 3)
    block = range(tuning.FIRST, tuning.FIRST + 2)
    make_all(small.root, tuning.jobs(small, suite, tried, block), 1, quiet)
    found = tuning.tuned(small, suite, "qavg", grid, tried, block)
    scores = [score for _, score in found.scores]
    assert scores == sorted(scores, reverse=True) and found.seeds == [1000, 1002]
    assert {given["local_steps"] for given, _ in found.scores} < {1, 2, 4, 8}


@pytest.mark.parametrize("given", [[], ["local_steps"]])
def test_a_grid_without_values_is_refused(given: list[str]):
    with pytest.raises(PfedrlError, match="--grid"):
        tuning.read_grid(given, value)
