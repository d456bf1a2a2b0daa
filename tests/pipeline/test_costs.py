"""Costs: from runs with the same key, or along the length of alike ones; never guessed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pfedrl.pipeline.cells import Cell, cells, find_cell
from pfedrl.pipeline.costs import RATES, Cost, Known, bills
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import MANIFEST
from tests.projects import project as made_up
from tests.tiny import ROOT, tiny_project

HOPPERS = ("qavg", "deep_hoppers", "ddpg")
CARTPOLES = ("pfedrl_rep", "control_cartpole", "dqn")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """This project, with nothing run and no rates."""
    return tiny_project(tmp_path)


def ran(project: Project, *runs: tuple[Cell, float]) -> None:
    """As if two files of five seeds were committed, a seed of which took so many seconds."""
    file = {"peak_memory_mb": 500.0, "bytes": 5_000_000}
    kept = {
        cell.folder: {
            "settings": cell.settings(), "data": cell.data,
            "files": {name: {**file, "cpu_seconds": 5 * seconds} for name in ("0-5", "5-10")},
        }
        for cell, seconds in runs
    }  # fmt: skip
    (project.root / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
    (project.root / MANIFEST).write_text(json.dumps(kept))


def measured(project: Project, *rates: tuple[dict, float]) -> None:
    """As if short trainings with these settings had been timed."""
    of = {"besides": 3.0, "process_mb": 300.0, "seed_mb": 200.0, "disk_mb": 0.01}
    kept = [{"settings": settings, "seconds": seconds, **of} for settings, seconds in rates]
    (project.root / RATES).parent.mkdir(parents=True, exist_ok=True)
    (project.root / RATES).write_text(json.dumps(kept))


def seconds(project: Project, cell: Cell) -> float | None:
    cost = Known(project.root).cost(cell, 1)
    return None if cost is None else cost.seconds


def shortened(cell: Cell, **settings: int) -> dict:
    return replace(cell, runnable=cell.runnable.model_copy(update=settings)).settings()


def test_a_run_with_the_same_key_costs_what_it_did(project: Project):
    paper, laptop = (find_cell(project, *CARTPOLES, scale) for scale in ("paper", "laptop"))
    ran(project, (paper, 60.0), (laptop, 999.0))
    assert Known(project.root).cost(paper, 3) == Cost(180, 500, 3)


def test_otherwise_a_cost_grows_with_the_length_alone(project: Project):
    paper, laptop = (find_cell(project, *CARTPOLES, scale) for scale in ("paper", "laptop"))
    ran(project, (laptop, 60.0))
    longer = paper.runnable.episodes / laptop.runnable.episodes
    assert longer > 2 and seconds(project, paper) == pytest.approx(60 * longer)


def test_nothing_is_said_of_larger_nets_or_more_agents(project: Project):
    paper, laptop = (find_cell(project, *HOPPERS, scale) for scale in ("paper", "laptop"))
    ran(project, (laptop, 60.0))
    assert laptop.runnable.first_width < paper.runnable.first_width
    assert seconds(project, paper) is None
    more = replace(laptop, family=laptop.family.model_copy(update={"agents": 7}))
    assert seconds(project, more) is None
    ran(project, (more, 60.0))
    assert seconds(project, laptop) == 60, "fewer agents cost no more"


def test_timed_trainings_with_the_papers_own_settings_price_the_paper_scale(project: Project):
    cell = find_cell(project, *HOPPERS, "paper")
    measured(project, (shortened(cell, frames=200), 2.0))
    times = cell.runnable.frames / 200
    assert Known(project.root).cost(cell, 5) == Cost(5 * (3 + 2 * times), 1300, 0.05)


def test_the_dearest_of_its_method_stands_in_for_an_algorithm_that_was_not_measured(
    project: Project,
):
    dear, cheap, other, control = (
        find_cell(project, "pfedrl_rep", "control_hopper", name, "paper")
        for name in ("ddpg", "ddpg_avg", "per_ddpg_avg", "random_policy")
    )
    measured(project, (shortened(dear, frames=200), 4.0), (shortened(cheap, frames=200), 2.0))
    times = dear.runnable.frames / 200
    assert seconds(project, other) == seconds(project, dear) == 3 + 4 * times
    assert seconds(project, cheap) == 3 + 2 * times
    assert seconds(project, control) is None, "it does not train"


def test_a_run_that_two_experiments_share_is_paid_for_once(tmp_path: Path):
    twice = {"title": "t", "family": {"name": "windy_cliff"}, "variants": {"random_policy": {}}}
    made = made_up(tmp_path, {"experiments": {"e": twice, "f": twice}})
    ran(made, (next(cells(made, "p", "e", "s")), 1.0))
    (bill,) = bills(made, "s").values()
    assert [cost.seconds for cost in bill.costs] == [4.0] and not bill.uncounted


def test_the_committed_rates_price_trainings_of_the_papers():
    project = Project(ROOT)
    known = Known(ROOT)
    for name in (HOPPERS, ("pfedrl_rep", "control_hopper", "pfed_ddpg_rep")):
        cell = find_cell(project, *name, "paper")
        assert cell.folder not in known._runs and known.cost(cell, 1).seconds > 3600
