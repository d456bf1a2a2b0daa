"""The catalogue of metrics: every recorded metric has one entry, whose range has its values."""

import json

import numpy as np
import pytest

from pfedrl.core.metrics import better_way, entries, possible, words_of
from pfedrl.core.parquet import read_table
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

CARTPOLE = {"name": "cartpole", "cap": 200}
WINDY = {"name": "windy_cliff", "gamma": 0.95, "score_shift": 0.0, "score_scale": 1.0}


@pytest.mark.parametrize(
    ("metric", "family", "bounds"),
    [
        ("training_return", CARTPOLE, (0, 200)),
        ("held_out_objective", CARTPOLE, (0, 200)),
        ("return_deviation", CARTPOLE, (0, np.inf)),
        ("episodes_to_solve", CARTPOLE, (0, np.inf)),
        ("reached_solve", CARTPOLE, (0, 1)),
        ("head_similarity_3", CARTPOLE, (-1, 1)),
        ("greedy_return", {"name": "acrobot", "cap": 500}, (-500, 0)),
        ("return", {"name": "reacher"}, (-np.inf, 0)),
        ("return", {"name": "figure_eight", "horizon": 1500}, (0, 1500)),
        ("objective", WINDY, (-2000, 2000)),
        ("G", {"name": "reacher"}, (-np.inf, np.inf)),
        ("margin", None, (-np.inf, np.inf)),
    ],
)
def test_bounds_follow_from_what_a_metric_is(metric, family, bounds):
    assert possible(metric, family) == pytest.approx(bounds)


def test_every_metric_that_is_recorded_or_declared_has_exactly_one_entry():
    digests = json.loads((ROOT / "workflow" / "digests.json").read_text())
    names = {name for digest in digests.values() for name in digest["metrics"]}
    project = Project(ROOT)
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            for cell in cells(project, paper, experiment, None):
                names |= cell.runnable.metrics(cell.family) if cell.unfit() is None else set()
    wrong = {name: found for name in sorted(names) if len(found := entries(name)) != 1}
    assert names and not wrong


def test_the_digests_are_of_every_algorithm_and_statement():
    """So that the test above sees the metrics of every one."""
    stored = json.loads((ROOT / "workflow" / "digests.json").read_text())
    names = {name.split("-")[0] for name in stored}
    assert names >= {*components("algorithms"), *components("theory")}


def test_ranges_have_what_committed_runs_recorded():
    """A run of each algorithm on each family."""
    files = (ROOT / "results" / "published").glob("*/*.parquet")
    runs = {path.parent.name.rpartition("-")[0]: path for path in sorted(files)}
    for run in runs.values():
        table, facts = read_table(run)
        rows = table.select(["metric", "value"]).to_pandas()
        for metric, values in rows.groupby("metric", observed=True)["value"]:
            least, most = possible(metric, facts["settings"]["family"])
            # single precision rounds a cosine of 1 up
            assert values.min() >= least - 1e-6 and values.max() <= most + 1e-6, (run, metric)
    assert runs


def test_words_have_their_unit_and_where_they_were_measured():
    assert words_of("megabytes_sent") == "sent (MB)"
    assert words_of("adapt_all_greedy_return") == (
        "return without exploration, in a new environment, adapting all parameters"
    )
    assert words_of("newcomers_accuracy_0.3") == "test accuracy of newcomers, pi = 0.3 (%)"
    assert words_of("head_similarity_3") == "head similarity 3"
    assert words_of("something_new") == "something new"


def test_the_better_way_is_that_of_the_metric_wherever_it_is_measured():
    assert better_way("adapt_all_greedy_return") == better_way("objective_late") == 1
    assert better_way("adapt_diverged") == better_way("steps_to_accuracy_mean_model") == -1
    assert better_way("baseline_objective") == better_way("return_variance") == 0
