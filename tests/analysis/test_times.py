"""Times that runs ended too early to see."""

import numpy as np
import pytest

from pfedrl.analysis.claim_tests import greater_cell, plain, times
from pfedrl.pipeline.claim import Greater
from tests.analysis import fake

AGENTS = np.array([[10.0, 20.0], [30.0, 40.0]])  # episodes of two agents in two seeds


@pytest.fixture
def summary(tmp_path):
    measured = {
        ("round", 20, "rounds_to_target"): np.array([20.0, 21.0]),
        ("round", 20, "converged_at"): np.array([[1.0, 19.0], [2.0, 40.0]]),
        ("round", 20, "episodes"): AGENTS,
        ("round", 20, "reached"): np.array([1.0, 0.0]),
    }
    first = fake.cell("e", "td", {}, 2, measured)
    measured[("round", 20, "episodes")] = AGENTS[:, ::-1] + 1
    return fake.summary(tmp_path, "qavg", first, fake.cell("e", "rep", {}, 2, measured))


def test_a_time_beyond_its_axis_was_not_reached(summary):
    found = times(summary, "td", "rounds_to_target", None, "round")
    assert found.reached.tolist() == [True, False]
    assert found.ends.tolist() == [20, 20]


def test_an_agents_time_ends_with_its_own_episodes(summary):
    found = times(summary, "td", "converged_at", None, "episodes", agent=2)
    assert found.ends.tolist() == [20, 40]
    assert found.reached.tolist() == [True, False]


def test_a_mark_says_what_was_reached(summary):
    found = times(summary, "td", "rounds_to_target", "reached", None)
    assert found.reached.tolist() == [True, False]


def test_times_are_cut_where_the_other_run_ended():
    cut = plain(np.array([5.0, 15.0])).restricted(np.array([10.0, 10.0]))
    assert cut.values.tolist() == [5, 10]
    assert cut.reached.tolist() == [True, False]


def test_the_worst_agent_of_each_seed_may_be_compared(summary):
    assert summary.worst("td", "episodes").tolist() == [10, 30]
    test = Greater(kind="greater", experiment="e", metric="episodes", greater="rep", smaller="td",
                   of_agents="worst")  # fmt: skip
    assert greater_cell(test, summary).effect == 1
