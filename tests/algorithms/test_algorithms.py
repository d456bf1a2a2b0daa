"""Every registered algorithm on a tiny budget: it runs, twice alike."""

import numpy as np
import pytest

from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import cells
from pfedrl.stack.loop import Control

LEARNERS = ("qavg", "soft_pavg", "proj_pavg")
TABULAR = [
    (experiment, name)
    for experiment in ("generalisation_random_mdps", "generalisation_windy_cliffs")
    for name in (
        *(f"{algorithm}_local_steps={steps}" for algorithm in LEARNERS for steps in (4, "inf")),
        "random_policy",
        "optimal_policy",
    )
]


def measured(cell, seeds):
    recorder = Recorder(seeds)
    cell.runnable.run(seeds, cell.family, cell.family.draw(seeds), recorder, Control(3))
    return recorder.columns()


def cell_of(project, experiment, name):
    return next(c for c in cells(project, "qavg", experiment, "tiny") if c.name == name)


@pytest.mark.parametrize(("experiment", "name"), TABULAR)
def test_same_seed_same_result(project, experiment, name):
    cell = cell_of(project, experiment, name)
    first, second = measured(cell, range(4)), measured(cell, range(4))
    for column in first:
        np.testing.assert_array_equal(first[column], second[column])
    assert np.isfinite(first["value"]).all()


@pytest.mark.parametrize(
    "experiment", ["generalisation_random_mdps", "generalisation_windy_cliffs"]
)
def test_learners_stand_between_the_controls(project, experiment):
    """Above the random policy on average, and nowhere above each environment's own optimum."""
    seeds = range(32)

    def objective(name):
        columns = measured(cell_of(project, experiment, name), seeds)
        last = columns["at"] == columns["at"].max()
        return columns["value"][last & (columns["metric"] == "objective")]

    floor, ceiling = objective("random_policy"), objective("optimal_policy")
    for name in (f"{algorithm}_local_steps=4" for algorithm in LEARNERS):
        assert objective(name).mean() > floor.mean()
        assert (objective(name) <= ceiling + 1e-9).all()


def test_the_registry_lists_every_file_with_a_label():
    assert {"qavg", "soft_pavg", "proj_pavg", "random_policy", "optimal_policy"} <= set(
        components("algorithms")
    )
    assert not {"algorithm", "averaging", "fixed_beforehand"} & set(components("algorithms"))
