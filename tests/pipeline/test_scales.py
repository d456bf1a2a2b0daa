"""Scales: what each of the project's own may be relied on for."""

import numpy as np
import pytest

from pfedrl.core.registry import is_control
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.costs import START_UP, Known
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import measured
from tests.tiny import ROOT


@pytest.fixture(scope="module")
def project() -> Project:
    return Project.here(ROOT)


def test_a_smoke_run_tells_any_two_learners_apart(project: Project):
    returns = {}
    for cell in cells(project, "pfedrl_rep", "control_cartpole", "smoke"):
        if not is_control(cell.algorithm):
            columns = measured(cell, cell.seeds, cell.curve_points)
            returns[cell.name] = columns["value"][columns["metric"] == "return_average"].mean()
    assert len(returns) == 7
    assert len(np.unique(list(returns.values()))) == 7


def test_the_default_scale_takes_about_two_core_hours(project: Project):
    known, seen, seconds = Known(project.root), set(), 0.0
    for paper, experiment in project.experiments_at("laptop"):
        for cell in cells(project, paper, experiment, "laptop"):
            cost = known.cost(cell, len(cell.seeds))
            if cell.folder not in seen and cost is not None:
                seconds += cost.seconds + START_UP
            seen.add(cell.folder)
    assert seconds <= 130 * 60


def test_every_experiment_of_the_record_is_at_the_laptop_scale_but_for_readings(project: Project):
    made = set(project.experiments_at("laptop"))
    for paper, experiment in project.experiments_at("record"):
        reading = project.paper(paper).reading_of(experiment)
        assert reading is not None or (paper, experiment) in made
