"""Two algorithms compared by the committed runs; numbers computed again from the files alone."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from pfedrl.analysis.compare import (
    PHASES,
    compare,
    difference,
    differences,
    main,
    places_of,
    readings,
)
from pfedrl.analysis.compare_words import sentence
from pfedrl.core.errors import PfedrlError
from pfedrl.core.metrics import better_way
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import Served
from tests.tiny import ROOT

CARTPOLE = ("pfed_dqn_rep", "dqn_avg", "cartpole")
ANY = (-np.inf, np.inf)


@pytest.fixture(scope="module")
def project() -> Project:
    return Project(ROOT)


def by_seed(run: Served, metric: str) -> np.ndarray:
    """A metric of committed files, agents averaged."""
    rows = [row for part in run.parts for row in pq.read_table(ROOT / part.path).to_pylist()]
    rows = [row for row in rows if row["metric"] == metric]
    last = max(row["at"] for row in rows)
    seeds = sorted({row["seed"] for row in rows})
    return np.array([
        np.mean([row["value"] for row in rows if row["seed"] == seed and row["at"] == last])
        for seed in seeds
    ])  # fmt: skip


@pytest.mark.parametrize("metric", ["return_average", "greedy_return", "megabytes_sent"])
def test_differences_are_those_of_the_files(project: Project, metric: str):
    fullest = compare(project, *CARTPOLE)[0]
    found = {one.metric: one for one in differences(project, fullest)}[metric]
    first, second = (by_seed(run, metric) for run in fullest.runs)
    own = first - second
    reach = stats.t.ppf(0.975, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own))
    ahead = own if better_way(metric) > 0 else -own
    assert (fullest.seeds, fullest.whole) == (len(own), True)
    np.testing.assert_allclose(
        [found.mean, found.low, found.high], [own.mean(), own.mean() - reach, own.mean() + reach]
    )
    assert [found.won, found.lost] == [(ahead > 0).sum(), (ahead < 0).sum()]


def test_labels_and_names_in_any_case_are_the_same_question(project: Project):
    asked = compare(project, "pfeddqn-rep", "FEDDQN", "CartPoles")
    assert asked == compare(project, *CARTPOLE)
    assert (asked[0].first, asked[0].second) == ("PFedDQN-Rep", "FedDQN")


def test_the_fullest_budget_comes_first_and_readings_are_no_experiments_of_their_own(
    project: Project,
):
    found = compare(project, *CARTPOLE)
    assert [one.experiment for one in found][:2] == ["control_cartpole", "tradeoff_cartpole"]
    assert "80 of 500 episodes" in found[1].budget
    assert all(project.paper(one.paper).reading_of(one.experiment) is None for one in found)


def test_readings_repeat_the_main_comparison(project: Project):
    fullest = compare(project, *CARTPOLE)[0]
    measured = [one.metric for one in differences(project, fullest)]
    assert main(project, fullest, measured) == list(PHASES) == measured[:2]
    found = {one.words: one.difference for one in readings(project, fullest, measured[0])}
    declared = project.paper("pfedrl_rep").readings
    of_cartpole = [one for one in declared if "control_cartpole" in one.experiments]
    assert {one.words for one in of_cartpole} <= set(found)
    frozen = next(one for one in declared if one.id == "frozen")
    other = found[frozen.words]
    assert other is not None and other.metric == "greedy_return"


def test_an_experiment_of_a_reading_can_be_asked_for_by_its_name(project: Project):
    (only,) = compare(project, *CARTPOLE[:2], "control_cartpole_k_1")
    assert only.experiment == "control_cartpole_k_1"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("pfed_dqn_rpe", "dqn_avg", "cartpole"), "Did you mean 'pfed_dqn_rep'?"),
        (("dqn", "dqn_avg", "cartpol"), "Did you mean 'cartpole'?"),
        (("pfed_dqn_rep", "dqn_avg", "hopper"), "They met on: Acrobots, CartPoles."),
        (("qavg", "FedKL", "cartpole"), "They never met on any family."),
    ],
)
def test_a_question_without_an_answer_says_why(project: Project, asked, message: str):
    with pytest.raises(PfedrlError) as raised:
        compare(project, *asked)
    assert message in str(raised.value)


def test_both_are_taken_at_the_same_point_of_a_sweep_and_with_equal_exchanges(project: Project):
    found = compare(project, "DQNAvg", "PerDQNAvg", "personal_cartpoles")
    steps = [tuple(cell.runnable.local_steps for cell in one.cells) for one in found]
    assert steps and all(one == other for one, other in steps)
    graphs = [
        {cell.runnable.graph for cell in one.cells}
        for one in compare(project, "deprl", "d_psgd", "hapt")
    ]
    assert graphs and all(len(graph) == 1 for graph in graphs)
    swept = compare(project, "qavg", "soft_pavg", "table1_windy_cliffs")
    assert len(swept) == len({one.point for one in swept}) == 5


def test_words_follow_the_interval_and_the_better_way(project: Project):
    fullest = compare(project, *CARTPOLE)[0]
    low, high = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.5, 7.0, 8.0])
    noise = low + np.array([3.0, -3.0, 3.0, -3.0])

    def said(metric: str, ours: np.ndarray, theirs: np.ndarray) -> str:
        return sentence(fullest, [difference(metric, better_way(metric), ours, theirs, ANY)])

    assert "is worse than" in said("return_average", low, high)
    assert "is better than" in said("value_error", low, high)
    assert "is lower than" in said("return_variance", low, high)
    assert "no clear difference" in said("return_average", noise, low)
    assert "equal in every seed" in said("return_average", low, low)
    assert "is " not in said("return_average", low[:1], high[:1]), "one seed has no interval"


def test_a_seed_without_a_value_is_counted_and_left_out():
    found = difference("return", 1, np.array([1.0, np.nan, 3.0]), np.array([0.0, 0.0, 0.0]), ANY)
    assert (found.won, found.missing, found.mean) == (2, 1, 2.0)
    none = difference("return", 1, np.array([np.nan]), np.array([1.0]), ANY)
    assert (none.seeds, none.missing, none.clear) == (0, 1, False)


def test_families_and_experiments_are_found_by_name_and_label(project: Project):
    assert places_of(project, "windy_cliffs") == places_of(project, "windy_cliff")
    assert places_of(project, "pfedrl_rep/control_cartpole") == [("pfedrl_rep", "control_cartpole")]
