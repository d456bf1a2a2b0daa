"""Costs: from runs with the same settings, by measured rates, or along lengths; never guessed."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pfedrl.pipeline import costs, rates
from pfedrl.pipeline.cells import Cell, cells, find_cell
from pfedrl.pipeline.costs import Cost, expected
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.rates import FILE, SCALE, Rate, amount, kind, measure, rate
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
    path = project.root / FILE
    path.parent.mkdir(parents=True)
    told = {name.replace("__", "/"): asdict(one) for name, one in found.items()}
    path.write_text(json.dumps(told))


def measured_with(cell: Cell) -> Rate:
    settings = replace(cell, curve_points=0).settings()
    return Rate(2.0, 3.0, 300.0, 200.0, 0.01, settings, "a processor")


def ran_at_the_laptop_scale(monkeypatch: pytest.MonkeyPatch, cost: Cost) -> None:
    monkeypatch.setattr(
        costs, "_a_seed", lambda folder: cost if "published/laptop" in str(folder) else None
    )


def test_a_length_costs_its_rate_and_the_rest_is_counted_once(project: Project):
    short = find_cell(project, *HOPPERS, SCALE)
    write_rates(project, qavg__deep_hoppers__ddpg=measured_with(short))
    cell = find_cell(project, *HOPPERS, "paper")
    times = 3_200_000 / short.runnable.frames
    assert expected(project, cell, "paper", "0-5") == Cost(5 * (3 + 2 * times), 1300, 0.05)
    # with other nets, or with other settings than it was measured with, it has no price
    assert expected(project, find_cell(project, *HOPPERS, "laptop"), "laptop", "0-5") is None
    changed = replace(cell, family=cell.family.model_copy(update={"agents": 7}))
    assert expected(project, changed, "paper", "0-5") is None


def test_the_dearest_of_its_method_stands_in_for_an_algorithm_without_a_rate(project: Project):
    shorts = [find_cell(project, *HOPPERS[:2], name, SCALE) for name in ("ddpg", "ddpg_avg_10000")]
    dear = replace(measured_with(shorts[0]), seconds=4.0)
    write_rates(
        project, qavg__deep_hoppers__ddpg=dear,
        qavg__deep_hoppers__ddpg_avg_10000=measured_with(shorts[1]),
    )  # fmt: skip

    def seconds(name: str) -> float | None:
        cost = expected(project, find_cell(project, *HOPPERS[:2], name, "paper"), "paper", "0-1")
        return None if cost is None else cost.seconds

    assert seconds("ddpg_avg_40000") == seconds("ddpg") == 3 + 4 * 16000
    assert seconds("ddpg_avg_10000") == 3 + 2 * 16000
    assert seconds("random_policy") is None, "it does not train"


def test_rates_of_earlier_settings_are_not_used(project: Project):
    short = find_cell(project, *HOPPERS, SCALE)
    other = replace(short, family=short.family.model_copy(update={"agents": 4}))
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


@pytest.mark.parametrize("paper", ["deprl", "fedkl", "pfedrl_rep", "qavg"])
def test_a_measured_length_is_cut_and_what_grows_with_it_in_proportion(paper: str):
    project = Project(ROOT)
    for experiment in project.paper(paper).experiments:
        for own, short in rates._pairs(project, paper, experiment).values():
            assert amount(short) <= amount(own)
            for name in rates.AFTERWARDS:
                if theirs := getattr(own.runnable, name, None):
                    cut = getattr(short.runnable, name) / theirs
                    assert cut == pytest.approx(amount(short) / amount(own)), (own.name, name)


def test_the_published_rates_are_of_the_settings_that_are_here():
    project = Project(ROOT)
    stored = rates._stored(ROOT)
    known = {
        rates._key(own): short
        for paper, page in project.papers.items()
        for experiment in page.experiments
        for own, short in rates._pairs(project, paper, experiment).values()
    }
    assert stored and all(
        found.settings == known[key].settings() for key, found in stored.items() if key in known
    )


@pytest.mark.parametrize(
    ("short", "doubled", "growth"),
    [
        (4.0, 7.0, 3.0),
        (4.0, 8.0, 4.0),
        (4.0, 11.0, 5.0),  # more than the whole of the short one
        (4.0, 4.0, 8 / 3),  # a length that is free
        (4.0, 3.5, 2.5),  # or earns time
    ],
)
def test_a_disturbed_measurement_never_makes_a_length_free(short, doubled, growth):
    assert rates._growth(short, doubled) == pytest.approx(growth)


def test_a_rate_is_measured(project: Project):
    path = project.root / "workflow" / "scales" / f"{SCALE}.yaml"
    text = path.read_text()
    path.write_text(text.replace(
        "clusters: {seeds: 1, block: 1}",
        "clusters: {seeds: 1, block: 1, algorithm: {communication_rounds: 1}}",
    ))  # fmt: skip
    name, seconds = next(measure(project, "deprl", "clusters", again=False))
    assert name == "deprl/clusters/d_psgd_fc"
    found, times = rate(project, find_cell(project, "deprl", "clusters", "d_psgd_ring", "paper"))  # type: ignore[misc]
    assert times == 20 and seconds == found.takes(times)
    assert found.seconds > 0 and found.process_mb > 50 and found.memory_mb > 0
    measured_next, _ = next(measure(project, "deprl", "clusters", again=False))
    assert measured_next == "deprl/clusters/dispfl_fc", "what is there stays"
