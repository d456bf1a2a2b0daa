"""Algorithms on the figure eight, on a tiny budget: resumed, without workers left over."""

import multiprocessing
import time

import numpy as np
import pytest

from pfedrl.algorithms.controls.human_drivers import HumanDrivers
from pfedrl.core.parquet import read_facts
from pfedrl.core.recorder import Recorder
from pfedrl.envs.mujoco.reacher import Reacher
from pfedrl.pipeline import execute
from pfedrl.pipeline.cells import find_cell
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.loop import Control


def run(cell, seeds, control=None):
    recorder = Recorder(seeds)
    draws = cell.family.draw(seeds)
    cell.runnable.run(seeds, cell.family, draws, recorder, control or Control(3))
    return recorder.columns()


def tiny(project, experiment: str, name: str):
    return find_cell(project, "fedkl", experiment, name, "tiny")


class KilledError(Exception):
    pass


def test_a_killed_run_goes_on_to_the_same_result(project, tmp_path) -> None:
    cell = tiny(project, "figure_eight", "fed_kl")
    whole = run(cell, [0])

    def kill(done: int, total: int) -> None:
        if done == 2:
            raise KilledError

    def control(progress):
        checkpoint = Checkpoint(tmp_path / "run.checkpoint", {"code": "c"}, seconds=0)
        return Control(3, checkpoint, progress)

    with pytest.raises(KilledError):
        run(cell, [0], control(kill))
    resumed = run(cell, [0], control(lambda done, total: None))
    np.testing.assert_array_equal(whole["value"], resumed["value"])


def test_no_worker_outlives_its_run_and_its_time_is_counted(project, tmp_path) -> None:
    started = time.process_time()
    execute.run(tiny(project, "figure_eight", "fed_kl"), range(2), tmp_path / "run.parquet")
    own = time.process_time() - started
    assert multiprocessing.active_children() == []
    # starting a worker alone, with its imports, takes much longer than this
    assert read_facts(tmp_path / "run.parquet")["cpu_seconds"] > own + 0.1


def test_a_trace_has_every_vehicle_every_second(project) -> None:
    for name in ("human_drivers", "fed_kl"):
        found = run(tiny(project, "driving", name), [0], Control())
        trace = found["axis"] == "second"
        assert set(found["metric"][trace]) == {"lap_position", "speed", "x", "y"}
        assert set(found["agent"][trace]) == set(range(14))
        assert set(found["at"][trace]) == set(range(10))
        assert np.isfinite(found["value"]).all()


def test_controls_of_the_figure_eight_skip_other_families() -> None:
    assert "figure eight only" in str(HumanDrivers().skip(Reacher()))
