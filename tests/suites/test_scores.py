"""Scores, ranks and whom sharing hurts, on made-up entries with known answers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pfedrl.pipeline.project import Project
from pfedrl.suites import board as boards
from pfedrl.suites.board import Board, board, caption, table, verdict
from pfedrl.suites.scores import (
    Entry,
    improvement,
    learners,
    overall,
    rank_intervals,
    resampled,
    won_and_lost,
)
from pfedrl.suites.suite import Suite, read_suite
from tests.tiny import ROOT

SEEDS, PLACES = 10, 2
RANDOM = np.random.default_rng(0)


def entry(name: str, scores: Any, agents: Any = None, control: bool = False) -> Entry:
    by_place = np.broadcast_to(np.asarray(scores, float), (PLACES, SEEDS)).copy()
    own = [np.asarray(one, float) for one in agents] if agents is not None else [np.zeros((0, 1))]
    return Entry(name, name, "dqn", control, by_place, own * (1 if agents else PLACES), None, 1.0,
                 2.0)  # fmt: skip


@given(st.lists(st.floats(-1, 2), min_size=SEEDS, max_size=SEEDS))
def test_overall_is_the_mean_over_places_of_interquartile_means(values: list[float]):
    scores = np.stack([values, np.array(values) + 1.0])
    expected = np.mean([stats.trim_mean(row, 0.25) for row in scores])
    assert overall(entry("a", scores)) == pytest.approx(expected, abs=1e-12)


def test_resampling_keeps_the_pairing_of_seeds():
    base = RANDOM.normal(size=(PLACES, SEEDS))
    means = resampled([entry("a", base), entry("b", base + 0.01), entry("c", base)])
    np.testing.assert_allclose(means[:, 1] - means[:, 0], 0.01)  # far below the seeds' spread
    np.testing.assert_array_equal(means[:, 2], means[:, 0])
    assert rank_intervals(means) == [(2, 2), (1, 1), (2, 2)]


def test_the_interval_of_a_score_covers_its_mean_as_often_as_it_says():
    covered = 0
    for _ in range(100):
        low, high = np.quantile(
            resampled([entry("a", RANDOM.normal(size=(PLACES, SEEDS)))])[:, 0], [0.025, 0.975]
        )
        covered += low <= 0 <= high
    assert 80 <= covered <= 99  # percentiles of ten seeds at two places are a little narrow


def test_improvement_counts_places_and_ties_half():
    one, other = entry("a", [1.0] * 5 + [0.0] * 5), entry("b", [0.0] * 10)
    assert won_and_lost(one.by_seed, other.by_seed) == (5, 0)
    assert improvement(one, other) == pytest.approx(0.75)
    assert improvement(one, other) + improvement(other, one) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("won", "lost", "said"),
    [(8, 0, "better"), (7, 0, "leans better"), (0, 8, "worse"), (5, 5, ""), (0, 0, "")],
)
def test_a_verdict_is_the_evidence_of_the_ledger(won: int, lost: int, said: str):
    assert verdict(won, lost) == said


def made(monkeypatch: pytest.MonkeyPatch, found: list[Entry], suite: Suite) -> Board:
    monkeypatch.setattr(boards, "read_entries", lambda *_, **__: (found, ["x: not run"]))
    return board(Project.here(ROOT), suite)


@pytest.fixture
def suite() -> Suite:
    return read_suite(Project.here(ROOT), "quick")


def test_a_board_ranks_learners_and_finds_the_agents_that_sharing_hurts(
    monkeypatch: pytest.MonkeyPatch, suite: Suite
):
    alone = RANDOM.normal(0.5, 0.1, size=(PLACES, SEEDS))
    mine = [np.stack([row, row, row]) for row in alone]  # three agents a place
    changed = [one + np.array([[0.1], [0.0], [-0.1]]) for one in mine]
    found = made(
        monkeypatch,
        [
            entry("dqn", alone, mine),
            entry("dqn_avg", alone + 0.05, changed),
            entry("random_policy", 0.0, [np.zeros((3, SEEDS))] * PLACES, control=True),
        ],
        suite,
    )
    first, second, control = found.rows
    assert (first.name, first.rank, first.ranks, first.alone) == ("dqn_avg", 1, (1, 1), "better")
    assert (first.helped, first.hurt, first.agents) == (2, 2, 6)
    assert {(one.agent, one.shown) for one in found.sharing} == {
        (0, "helps"), (1, ""), (2, "hurts")
    }  # fmt: skip
    assert (second.name, second.alone, second.behind, second.best) == ("dqn", "", (0, 10), "worse")
    assert control.rank is None and (found.separated, len(found.pairs)) == (1, 1)
    shown = table(found).plain()
    assert [row[1] for row in shown["sections"][0]["rows"]] == ["dqn_avg", "dqn"]
    assert shown["notes"] == ["Not run: x: not run."]
    assert "1 of 1 pairs" in caption(found)


def test_ranks_under_other_readings_are_those_of_the_readings(
    monkeypatch: pytest.MonkeyPatch, suite: Suite
):
    names = ["dqn", "pfed_dqn_rep", "pfed_dqn_rep_k_steps", "pfed_dqn_rep_same_step"]
    found = made(
        monkeypatch,
        [
            entry(name, np.full(SEEDS, score))
            for name, score in zip(names, (3, 1, 4, 2), strict=True)
        ],
        suite,
    )
    ranks = {row.name: (row.rank, row.readings) for row in found.rows}
    assert ranks["pfed_dqn_rep"] == (4, (1, 3))
    assert ranks["dqn"] == (2, None)


def test_learners_are_sorted_and_controls_left_out():
    found = [entry("a", 0.1), entry("b", 0.2), entry("c", 1.0, control=True)]
    assert [one.name for one in learners(found)] == ["b", "a"]
