import numpy as np
import pytest

from pfedrl.analysis.summaries import paths
from pfedrl.core.errors import PfedrlError
from pfedrl.core.parquet import read_facts
from tests.analysis import fake

AGENTS = np.arange(60.0).reshape(20, 3) ** 1.5  # 20 seeds, 3 agents
SEEDS = AGENTS[:, 0] - 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("summaries")


@pytest.fixture(scope="module")
def summary(folder):
    """Two cells in three blocks each, a curve of two points and a metric of agents."""
    measured = {
        ("iteration", 0, "objective"): SEEDS,
        ("iteration", 8, "objective"): SEEDS * 2,
        ("iteration", 8, "own"): AGENTS,
    }
    cells = [
        fake.cell("small", variant, sweep, 20, measured, blocks=3)
        for variant, sweep in (("qavg", {"kappa": 0.2}), ("random_policy", {}))
    ]
    return fake.summary(folder, "qavg", *cells)


def test_statistics_are_those_of_all_seeds_in_all_blocks(summary):
    last = summary.last("qavg_kappa=0.2", "objective")
    assert last["at"] == 8
    assert last["mean"] == pytest.approx(2 * SEEDS.mean())
    assert last["se"] == pytest.approx(2 * SEEDS.std(ddof=1) / np.sqrt(20))
    assert last["median"] == pytest.approx(2 * np.median(SEEDS))
    assert last["low"] < last["mean"] < last["high"]
    assert last["iqm_low"] < last["iqm"] < last["iqm_high"]
    assert (last["seeds"], last["missing"], last["diverged"]) == (20, 0, 0)
    first = summary.curve("qavg_kappa=0.2", "objective").iloc[0]
    assert np.isnan(first["iqm_low"])  # at the last point only


def test_agents_are_averaged_within_a_seed_and_kept_one_by_one(summary):
    pooled = summary.last("qavg_kappa=0.2", "own")
    assert pooled["se"] == pytest.approx(AGENTS.mean(axis=1).std(ddof=1) / np.sqrt(20))
    np.testing.assert_allclose(summary.final("qavg_kappa=0.2", "own"), AGENTS.mean(axis=1))
    np.testing.assert_allclose(summary.final("qavg_kappa=0.2", "own", agent=2), AGENTS[:, 2])
    rows = summary.statistics
    own = rows[(rows["cell"] == "qavg_kappa=0.2") & (rows["metric"] == "own")]
    means = own.set_index("agent")["mean"]
    np.testing.assert_allclose(means.loc[[0, 1, 2]], AGENTS.mean(axis=0))


def test_finals_are_the_last_values_by_seed(summary):
    np.testing.assert_allclose(summary.final("random_policy", "objective"), 2 * SEEDS)
    assert sorted(summary.finals.columns) == sorted(
        ["experiment", "cell", "variant", "algorithm", "family", "kappa", "seed", "agent", "metric",
         "value"]
    )  # fmt: skip


def test_a_control_without_the_swept_key_has_none(summary):
    assert np.isnan(summary.last("random_policy", "objective")["kappa"])
    assert summary.points_along("qavg", "family.kappa") == {0.2: "qavg_kappa=0.2"}


def test_facts_are_the_union_of_the_runs_facts_and_stand_in_both_files(summary, folder):
    facts = summary.facts
    assert facts["commits"] == ["0123456789ab"]
    made = {"commit": "0123456789ab", "processor": "AMD EPYC"}
    cells = ["qavg_kappa=0.2", "random_policy"]
    assert facts["origins"] == [{"seeds": [0, 20], "cells": cells, **made}], "of all three blocks"
    assert facts["cpu_seconds"] == pytest.approx(1.25 * 6)
    assert facts["peak_memory_mb"] == 80
    assert facts["cells"]["qavg_kappa=0.2"]["seeds"] == [0, 20]
    assert len(facts["runs"]) == 6 and facts["runs"] == sorted(facts["runs"])
    assert facts["versions"] == {"numpy": ["2.4.0"], "python": ["3.11.0"]}
    first, second = (read_facts(path) for path in paths(folder, "qavg", "small"))
    assert {**first, "rows": 0} == {**second, "rows": 0}


def test_seeds_without_a_value_are_counted_and_left_out(tmp_path):
    values = np.arange(10.0)
    values[[2, 5]] = np.nan, np.inf
    summary = fake.summary(tmp_path, "qavg", *(
        fake.cell("e", variant, {}, 10, {("iteration", 0, "objective"): column})
        for variant, column in (("qavg", values), ("soft_pavg", np.full(10, np.nan)))
    ))  # fmt: skip
    some, none = (summary.last(cell, "objective") for cell in ("qavg", "soft_pavg"))
    assert (some["missing"], some["diverged"]) == (2, 0)  # nothing says that they did
    assert some["mean"] == pytest.approx(values[np.isfinite(values)].mean())
    assert (none["missing"], none["diverged"]) == (10, 0)
    assert np.isnan(none[["mean", "se", "low", "high", "iqm"]].astype(float)).all()
    assert np.isfinite(summary.final("qavg", "objective")).sum() == 8  # kept for the tests to see


def test_a_seed_with_one_agent_without_a_value_has_none(tmp_path):
    agents = np.ones((4, 2))
    agents[1, 1] = np.nan
    cell = fake.cell("e", "qavg", {}, 4, {("frames", 0, "own"): agents})
    assert fake.summary(tmp_path, "qavg", cell).last("qavg", "own")["missing"] == 1


def test_a_seed_has_diverged_where_its_run_recorded_that_it_did(tmp_path):
    agents, ended, adapting = np.ones((4, 2)), np.zeros((4, 2)), np.zeros((4, 2))
    agents[[1, 2], 1] = np.nan
    ended[1, 1] = ended[3, 0] = 1  # the last has a value all the same, which counts
    adapting[2, 0] = 1
    measured = {
        ("frames", 0, "diverged"): np.zeros((4, 2)), ("frames", 8, "diverged"): ended,
        ("adapting", 2, "adapt_diverged"): adapting, ("frames", 8, "own"): agents,
        ("adapting", 2, "adapt_own"): agents,
    }  # fmt: skip
    summary = fake.summary(tmp_path, "qavg", fake.cell("e", "qavg", {}, 4, measured))
    own, adapted = summary.last("qavg", "own"), summary.last("qavg", "adapt_own")
    assert (own["missing"], own["diverged"]) == (2, 1)
    assert (adapted["missing"], adapted["diverged"]) == (2, 2)  # of one training or the other
    of_agents = summary.curve("qavg", "own", agent=0).iloc[-1]
    assert (of_agents["missing"], of_agents["diverged"]) == (0, 0)


def test_names_that_are_not_there_get_the_nearest(summary):
    with pytest.raises(PfedrlError, match="Did you mean 'objective'"):
        summary.curve("random_policy", "objectiv")
    with pytest.raises(PfedrlError, match="Did you mean 'random_policy'"):
        summary.final("random_polic", "objective")
    with pytest.raises(PfedrlError, match=r"0 cells of 'qavg' at kappa=0\.3"):
        summary.cell_at("qavg", kappa=0.3)


def test_a_curve_has_the_mean_over_its_second_half(tmp_path):
    values = {at: np.array([1.0, 2.0]) * at for at in (0, 2, 4, 5, 8)}
    measured = {("episode", at, "objective"): column for at, column in values.items()}
    short = {("episode", at, "other"): values[at] for at in (4, 8)}
    found = fake.summary(tmp_path, "qavg", fake.cell("e", "dqn", {}, 2, measured | short))
    np.testing.assert_allclose(
        found.final("dqn", "objective_late"), (values[4] + values[5] + values[8]) / 3
    )
    assert "other_late" not in set(found.finals["metric"])  # too few points for a curve


def test_each_agent_has_the_mean_over_its_second_half(tmp_path):
    measured = {
        ("episode", at, "objective"): at * np.array([[1.0, 5.0], [2.0, 3.0]]) for at in range(4)
    }
    found = fake.summary(tmp_path, "qavg", fake.cell("e", "dqn", {}, 2, measured))
    np.testing.assert_allclose(found.final("dqn", "objective_late", 1), [12.5, 7.5])
    np.testing.assert_allclose(found.by_agent("dqn", "objective_late"), [[2.5, 5.0], [12.5, 7.5]])
    np.testing.assert_allclose(found.final("dqn", "objective_late"), [7.5, 6.25])
