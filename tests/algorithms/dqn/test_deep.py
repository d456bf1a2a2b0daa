"""Every deep algorithm on a tiny budget: it runs, alike twice, and shares what it should."""

import numpy as np
import pytest

from pfedrl.core.recorder import Recorder
from pfedrl.pipeline.cells import cells
from pfedrl.stack.loop import Control

DEEP = (
    "dqn", "dqn_avg", "per_dqn_avg", "pfed_dqn_rep", "fedq_k", "lfrl", "fed_asynq_imavg"
)  # fmt: skip
FAMILIES = ("control_cartpole", "control_acrobot")


def cell_of(project, experiment, name, paper="pfedrl_rep"):
    return next(c for c in cells(project, paper, experiment, "tiny") if c.name == name)


def measured(cell, seeds, points=0):
    recorder = Recorder(seeds)
    cell.runnable.run(seeds, cell.family, cell.family.draw(seeds), recorder, Control(points))
    return recorder.columns()


@pytest.mark.parametrize("experiment", FAMILIES)
@pytest.mark.parametrize("name", [*DEEP, "random_policy", "best_found"])
def test_twice_alike(project, experiment, name):
    cell = cell_of(project, experiment, name)
    first, second = measured(cell, range(2)), measured(cell, range(2))
    for column in first:
        np.testing.assert_array_equal(first[column], second[column])
    assert np.isfinite(first["value"]).all()


@pytest.mark.parametrize(
    ("name", "shared", "private"),
    [
        ("dqn", (), ("body", "head")),
        ("dqn_avg", ("body", "head"), ()),
        ("fedq_k", ("body", "head"), ()),
        ("per_dqn_avg", ("body", "head"), ("embedding",)),
        ("pfed_dqn_rep", ("body",), ("head",)),
        ("lfrl", ("body", "head"), ()),
        ("fed_asynq_imavg", ("body", "head"), ("visits",)),
    ],
)
def test_shared_parts_agree_after_an_exchange_and_private_ones_differ(
    project, name, shared, private
):
    cell = cell_of(project, "control_cartpole", name)
    seeds = range(2)
    task = cell.family.task(cell.family.draw(seeds))
    learner, exchange = cell.runnable.learner(task, seeds), cell.runnable.exchange(task, seeds)
    for number in range(40):
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
        if learner.finished.all():
            break
    parts = {key: np.asarray(part) for key, part in learner.parts.items()}
    assert parts.keys() == {*shared, *private}
    for key in shared:
        assert (parts[key] == parts[key][:, :1]).all(), key
    for key in private:
        assert not np.allclose(parts[key][:, 0], parts[key][:, 1]), key
    assert not np.allclose(parts["body"][0], parts["body"][1])  # seeds never meet


def test_newcomers_of_pfed_dqn_rep_keep_the_representation(project):
    cell = cell_of(project, "control_cartpole", "pfed_dqn_rep")
    algorithm = cell.runnable
    learner = algorithm.learner(cell.family.task(cell.family.draw([0])), [0])
    newcomers = learner.newcomers(algorithm.adapting(), algorithm.adaptations()["adapt"])
    before = {key: part.clone() for key, part in newcomers.parts.items()}
    while not newcomers.finished.all():
        newcomers.advance(5)
    assert (newcomers.parts["body"] == before["body"]).all()
    assert newcomers.experience.replay.size.min() > algorithm.warm_up
    assert not (newcomers.parts["head"] == before["head"]).all()


def test_figure_6_meets_new_environments_in_every_way(project):
    cell = cell_of(project, "personal_cartpoles", "per_dqn_avg_48", "qavg")
    metrics = set(measured(cell, [0], points=3)["metric"])
    for way in ("adapt", "adapt_all", "adapt_net", "adapt_nothing"):
        assert f"{way}_greedy_return" in metrics


def test_baseline_is_measured_where_agents_differ(project):
    alone = set(measured(cell_of(project, "deep_cartpoles", "dqn", "qavg"), [0])["metric"])
    together = set(
        measured(cell_of(project, "deep_cartpoles", "dqn_avg_12", "qavg"), [0])["metric"]
    )
    assert {"objective", "held_out_objective"} <= alone & together
    assert "baseline_objective" in alone and "baseline_objective" not in together


def test_the_best_cartpole_balances_to_the_cap(project):
    best = measured(cell_of(project, "control_cartpole", "best_found"), [0])
    assert (best["value"][best["metric"] == "greedy_return"] == 40).all()
