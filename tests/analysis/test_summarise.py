import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from pfedrl.analysis.summaries import paths, read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import Recorder
from tests.analysis import fake

AGENTS = np.arange(60.0).reshape(20, 3) ** 1.5  # 20 seeds, 3 agents
SEEDS = AGENTS[:, 0] - 7


@pytest.fixture
def runs(tmp_path):
    """Two cells in three blocks each, a curve of two points and a metric of agents."""
    measured = {
        ("iteration", 0, "objective"): SEEDS,
        ("iteration", 8, "objective"): SEEDS * 2,
        ("iteration", 8, "own"): AGENTS,
    }
    written = fake.write_cell(tmp_path, "small", "qavg", {"kappa": 0.2}, 20, measured, blocks=3)
    return written + fake.write_cell(tmp_path, "small", "random_policy", {}, 20, measured, blocks=3)


@pytest.fixture
def summary(runs, tmp_path):
    summarise(runs, *paths(tmp_path, "qavg", "small"))
    return read_summary(tmp_path, "qavg", "small")


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


def test_the_order_of_a_cells_runs_changes_nothing(runs, tmp_path):
    first, again = paths(tmp_path, "qavg", "one"), paths(tmp_path, "qavg", "other")
    summarise(runs, *first)
    summarise([*runs[2::-1], *runs[:2:-1]], *again)
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_provenance_is_the_union_of_the_runs(runs, summary):
    facts = summary.facts
    assert facts["commits"] == ["0123456789ab"]
    made = {"commit": "0123456789ab", "processor": "AMD EPYC"}
    cells = ["qavg_kappa=0.2", "random_policy"]
    assert facts["origins"] == [{"seeds": [0, 20], "cells": cells, **made}]
    assert facts["wall_seconds"] == pytest.approx(1.5 * len(runs))
    assert facts["peak_memory_mb"] == 80
    assert facts["cells"]["qavg_kappa=0.2"]["seeds"] == [0, 20]
    assert facts["runs"] == sorted(path.as_posix() for path in runs)
    assert facts["versions"] == {"numpy": ["2.4.0"], "python": ["3.11.0"]}


def test_both_files_carry_the_provenance(runs, tmp_path):
    written = paths(tmp_path, "qavg", "small")
    summarise(runs, *written)
    stored = [json.loads(pq.read_schema(path).metadata[b"pfedrl"]) for path in written]
    seals = [facts.pop("checksum") for facts in stored]
    assert stored[0] == stored[1]
    assert seals[0] != seals[1], "their columns are in the seal"


def test_seeds_without_a_value_are_counted_and_left_out(tmp_path):
    values = np.arange(10.0)
    values[[2, 5]] = np.nan, np.inf
    runs = fake.write_cell(tmp_path, "e", "qavg", {}, 10, {("iteration", 0, "objective"): values})
    runs += fake.write_cell(
        tmp_path, "e", "soft_pavg", {}, 10, {("iteration", 0, "objective"): np.full(10, np.nan)}
    )
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    summary = read_summary(tmp_path, "qavg", "e")
    some, none = (summary.last(cell, "objective") for cell in ("qavg", "soft_pavg"))
    assert (some["missing"], some["diverged"]) == (2, 0)  # nothing says that they did
    assert some["mean"] == pytest.approx(values[np.isfinite(values)].mean())
    assert (none["missing"], none["diverged"]) == (10, 0)
    assert np.isnan(none[["mean", "se", "low", "high", "iqm"]].astype(float)).all()
    assert np.isfinite(summary.final("qavg", "objective")).sum() == 8  # kept for the tests to see


def test_a_seed_with_one_agent_without_a_value_has_none(tmp_path):
    agents = np.ones((4, 2))
    agents[1, 1] = np.nan
    runs = fake.write_cell(tmp_path, "e", "qavg", {}, 4, {("frames", 0, "own"): agents})
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    assert read_summary(tmp_path, "qavg", "e").last("qavg", "own")["missing"] == 1


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
    runs = fake.write_cell(tmp_path, "e", "qavg", {}, 4, measured)
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    summary = read_summary(tmp_path, "qavg", "e")
    own, adapted = summary.last("qavg", "own"), summary.last("qavg", "adapt_own")
    assert (own["missing"], own["diverged"]) == (2, 1)
    assert (adapted["missing"], adapted["diverged"]) == (2, 2)  # of one training or the other
    of_agents = summary.curve("qavg", "own", agent=0).iloc[-1]
    assert (of_agents["missing"], of_agents["diverged"]) == (0, 0)


def block(folder, seeds, recorded=None, **changed):
    recorder = Recorder(seeds if recorded is None else recorded)
    recorder.add("iteration", 0, "objective", np.zeros(len(recorder.seeds)))
    known = fake.facts("e", "qavg", {}, seeds) | changed
    return fake.write(folder / f"{known['cell']}-{seeds.start}.parquet", recorder, known)


@pytest.mark.parametrize(
    ("second", "changed", "reason"),
    [
        (range(6, 9), {}, "seeds 5-6 are missing"),
        (range(4, 9), {}, "seeds 4-5 are there twice"),
        (range(5, 9), {"settings": {"algorithm": {"name": "other"}}}, "its settings are not those"),
        (range(5, 9), {"experiment": "f"}, "it belongs to 'f'"),
        (range(5, 9), {"recorded": range(4, 8)}, "it holds seeds outside 5-9"),
        (range(5, 9), {"recorded": [5, 6, 7, 7]}, "a seed is missing or there twice"),
        (range(5, 9), {"recorded": [5, 6, 7]}, "a seed is missing or there twice"),
        (range(1, 5), {"cell": "other"}, "cell 'other' has seeds 1-5, 'qavg' has 0-5"),
    ],
)
def test_runs_that_do_not_fit_are_named_with_the_way_out(tmp_path, second, changed, reason):
    runs = [block(tmp_path, range(5)), block(tmp_path, second, **changed)]
    with pytest.raises(PfedrlError) as caught:
        summarise(runs, tmp_path / "s.parquet", tmp_path / "f.parquet")
    assert reason in str(caught.value)
    uneven = "need the same seeds: run those that are missing (pfedrl run), or remove"
    again = f"rm {runs[1]} && snakemake --cores all {runs[1]}"
    assert (uneven if "cell" in changed else again) in str(caught.value)
    assert not (tmp_path / "s.parquet").exists()


def test_a_broken_or_absent_summary_is_named(summary, tmp_path):
    path = paths(tmp_path, "qavg", "small")[1]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PfedrlError, match=r"small\.finals\.parquet: the artifact is broken"):
        read_summary(tmp_path, "qavg", "small")
    path.unlink()
    with pytest.raises(PfedrlError, match="no such artifact"):
        read_summary(tmp_path, "qavg", "small")


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
    runs = fake.write_cell(tmp_path, "e", "dqn", {}, 2, measured | short)
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    found = read_summary(tmp_path, "qavg", "e")
    np.testing.assert_allclose(
        found.final("dqn", "objective_late"), (values[4] + values[5] + values[8]) / 3
    )
    assert "other_late" not in set(found.finals["metric"])  # too few points for a curve


def test_each_agent_has_the_mean_over_its_second_half(tmp_path):
    measured = {
        ("episode", at, "objective"): at * np.array([[1.0, 5.0], [2.0, 3.0]]) for at in range(4)
    }
    runs = fake.write_cell(tmp_path, "e", "dqn", {}, 2, measured)
    summarise(runs, *paths(tmp_path, "qavg", "e"))
    found = read_summary(tmp_path, "qavg", "e")
    np.testing.assert_allclose(found.final("dqn", "objective_late", 1), [12.5, 7.5])
    np.testing.assert_allclose(found.worst("dqn", "objective_late"), [2.5, 5.0])
    np.testing.assert_allclose(found.final("dqn", "objective_late"), [7.5, 6.25])
