"""Costs: from runs with the same settings, by measured rates, or along lengths; never guessed."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pfedrl.pipeline import costs
from pfedrl.pipeline.cells import Cell, cells, find_cell
from pfedrl.pipeline.costs import RATES, Cost, Rate, expected, kind, rate
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

HOPPERS = ("qavg", "deep_hoppers", "ddpg")
CARTPOLES = ("pfedrl_rep", "control_cartpole", "dqn")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """This project, with nothing run and no rates."""
    for name in ("workflow", "envs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return Project.here(tmp_path)


def write_rates(project: Project, **found: Rate) -> None:
    path = project.root / RATES
    path.parent.mkdir(parents=True)
    told = {name.replace("__", "/"): asdict(one) for name, one in found.items()}
    path.write_text(json.dumps(told))


FRAMES = 200  # that the rates of these tests were measured with


def measured_with(cell: Cell) -> Rate:
    return Rate(2.0, 3.0, 300.0, 200.0, 0.01, {"frames": FRAMES}, cell.settings(), "a processor")


def own_cell(project: Project, paper: str, experiment: str, name: str) -> Cell:
    return next(c for c in cells(project, paper, experiment, None) if c.name == name)


def ran_at_the_laptop_scale(monkeypatch: pytest.MonkeyPatch, cost: Cost) -> None:
    monkeypatch.setattr(
        costs, "_a_seed", lambda folder: cost if "published/laptop" in str(folder) else None
    )


def test_a_length_costs_its_rate_and_the_rest_is_counted_once(project: Project):
    write_rates(project, qavg__deep_hoppers__ddpg=measured_with(own_cell(project, *HOPPERS)))
    cell = find_cell(project, *HOPPERS, "paper")
    times = 3_200_000 / FRAMES
    assert expected(project, cell, "paper", "0-5") == Cost(5 * (3 + 2 * times), 1300, 0.05)
    # with other nets, or with other settings than it was measured with, it has no price
    assert expected(project, find_cell(project, *HOPPERS, "laptop"), "laptop", "0-5") is None
    changed = replace(cell, family=cell.family.model_copy(update={"agents": 7}))
    assert expected(project, changed, "paper", "0-5") is None


def test_the_dearest_of_its_method_stands_in_for_an_algorithm_without_a_rate(project: Project):
    names = ("ddpg", "ddpg_avg_10000")
    measured = [measured_with(own_cell(project, *HOPPERS[:2], name)) for name in names]
    dear = replace(measured[0], seconds=4.0)
    write_rates(
        project, qavg__deep_hoppers__ddpg=dear,
        qavg__deep_hoppers__ddpg_avg_10000=measured[1],
    )  # fmt: skip

    def seconds(name: str) -> float | None:
        cost = expected(project, find_cell(project, *HOPPERS[:2], name, "paper"), "paper", "0-1")
        return None if cost is None else cost.seconds

    assert seconds("ddpg_avg_40000") == seconds("ddpg") == 3 + 4 * 16000
    assert seconds("ddpg_avg_10000") == 3 + 2 * 16000
    assert seconds("random_policy") is None, "it does not train"


def test_rates_of_earlier_settings_are_not_used(project: Project):
    own = own_cell(project, *HOPPERS)
    other = replace(own, family=own.family.model_copy(update={"agents": 4}))
    write_rates(project, qavg__deep_hoppers__ddpg=measured_with(other))
    assert rate(project, find_cell(project, *HOPPERS, "paper")) is None


def test_without_rates_a_cost_grows_along_lengths_only(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    ran_at_the_laptop_scale(monkeypatch, Cost(60, 500, 1))
    cartpole = find_cell(project, *CARTPOLES, "paper")  # 500 of 120 episodes, and the same nets
    cost = expected(project, cartpole, "paper", "0-2")
    assert cost is not None and cost.seconds == pytest.approx(2 * 60 * 500 / 120)
    assert expected(project, find_cell(project, *HOPPERS, "paper"), "paper", "0-5") is None
    smoke, laptop = (find_cell(project, *HOPPERS, scale) for scale in ("smoke", "laptop"))
    shorter = smoke.runnable.frames / laptop.runnable.frames  # type: ignore[attr-defined]
    cost = expected(project, smoke, "smoke", "0-1")
    assert cost is not None and cost.seconds == 60 * shorter, "smaller nets cost no more"


def test_cells_are_alike_that_count_the_same(project: Project):
    own = {cell.name: cell for cell in cells(project, "deprl", "cifar10", None)}
    alike = kind(own["d_psgd_ring_pi=0.1"])
    assert alike == kind(own["d_psgd_fc_pi=0.5"]) != kind(own["deprl_ring_pi=0.1"])
    learning = {c.name: c for c in cells(project, "qavg", "learning_half_cheetah", None)}
    assert kind(learning["ddpg"]) != kind(learning["ddpg_64"])


def test_the_committed_rates_price_the_settings_that_are_declared():
    project = Project(ROOT)
    stored = costs._rates(ROOT)
    assert stored
    for name, found in stored.items():
        paper, experiment, cell = name.split("/", 2)
        own = {one.name: one for one in cells(project, paper, experiment, None)}
        assert own[cell].settings() == found.settings, name
