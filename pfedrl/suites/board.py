"""The leaderboard of a suite: everybody's score, what it cost, and whom sharing hurts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pfedrl.analysis.evidence import DECIDES, POINTS, most_seeds
from pfedrl.analysis.tables import NOTHING, Aligned, Column, Section, Table, digits_of
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Layer, Store
from pfedrl.suites.runs import RECORD
from pfedrl.suites.scores import (
    Entry,
    Place,
    improvement,
    learners,
    middle,
    overall,
    places,
    rank_intervals,
    read_entries,
    resampled,
    won_and_lost,
)
from pfedrl.suites.suite import Suite

SUPPORT = {"better": "better", "worse": "worse", "leans better": "points to better",
           "leans worse": "points to worse", "": "not separable"}  # fmt: skip


FIRST = 5  # rows on the landing page


@dataclass(frozen=True)
class Row:
    """One algorithm on the leaderboard; seeds are won and lost over all places together."""

    name: str
    label: str
    algorithm: str
    control: bool
    rank: int | None  # of those that learn; a control has none
    ranks: tuple[int, int] | None  # 95% of the resampled ranks
    readings: tuple[int, int] | None  # ranks under other readings of its paper
    score: float
    low: float
    high: float
    won: int  # seeds, against learning alone
    lost: int
    alone: str  # what the evidence says of that
    behind: tuple[int, int]  # seeds won and lost against the best
    best: str
    improvement: float  # the probability of a better score than learning alone, seed by seed
    newcomers: float | None
    worst: float | None  # the worst agent's score
    hurt: int | None  # agents that sharing is shown to hurt
    helped: int | None
    agents: int  # of all places
    megabytes: float
    seconds: float
    trials: int | None


@dataclass(frozen=True)
class Sharing:
    """What sharing does to one agent, paired with the same agent alone."""

    label: str
    place: str
    agent: int
    difference: float  # of scores
    won: int
    lost: int
    shown: str  # helps, hurts, or nothing


@dataclass(frozen=True)
class Placed:
    """An algorithm's score at one place."""

    label: str
    algorithm: str
    place: str
    task: str
    spread: float | None
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Pair:
    """Two algorithms on the same seeds."""

    first: str
    second: str
    improvement: float  # the probability that the first is better, on one seed at one place
    won: int  # seeds, over all places
    lost: int
    said: str  # of the first: better, worse, leans better, leans worse, or nothing


@dataclass(frozen=True)
class Board:
    """All that the pages and figures of a suite show."""

    suite: Suite
    rows: list[Row]
    sharing: list[Sharing]
    placed: list[Placed]
    not_run: list[str]
    pairs: list[Pair]  # of all learners

    @property
    def separated(self) -> int:
        """Pairs that the evidence orders."""
        return sum(pair.said in ("better", "worse") for pair in self.pairs)

    def label(self, variant: str) -> str:
        """What a reader calls a variant."""
        return next((row.label for row in self.rows if row.name == variant), variant)

    def plain(self) -> dict[str, Any]:
        """As JSON keeps it."""
        suite = self.suite
        return {
            "suite": suite.suite, "version": suite.version, "title": suite.title,
            "contents": suite.contents(), "seeds": suite.seeds, "caption": caption(self),
            "description": suite.description, "first": table(self, FIRST).plain(),
            "table": table(self).plain(), "not_run": self.not_run,
            "rows": [asdict(row) for row in self.rows],
        }  # fmt: skip


def verdict(won: int, lost: int) -> str:
    """What seeds won and lost say of a difference."""
    for way, evidence in (("better", most_seeds(won, lost)), ("worse", most_seeds(lost, won))):
        if evidence >= POINTS:
            return way if evidence >= DECIDES else f"leans {way}"
    return ""


def board(
    project: Project, suite: Suite, stores: Mapping[str, Store] | None = None,
    layers: tuple[Layer, ...] = RECORD,
) -> Board:  # fmt: skip
    """The leaderboard of all runs in some layers; whoever lacks some is named with the reason."""
    found, not_run = read_entries(project, suite, stores, layers=layers)
    ranked = learners(found)
    if not ranked:
        return Board(suite, [], [], [], not_run, [])
    means = resampled([*ranked, *(one for one in found if one.control)])
    intervals = rank_intervals(means[:, : len(ranked)])
    alone = next((one for one in found if one.name == suite.alone), None)
    order = {one.name: place for place, one in enumerate(ranked)}
    where = places(suite)
    sharing = [
        one
        for entry in ranked
        if alone is not None and entry is not alone
        for one in _sharing(entry, alone, where)
    ]
    rows = []
    for number, entry in enumerate([*ranked, *(one for one in found if one.control)]):
        own = [one for one in sharing if one.label == entry.label]
        read = [name for name in suite.readings.get(entry.name, []) if name in order]
        spans = [intervals[order[name]] for name in read if entry.name in order]
        rows.append(
            _row(
                suite, entry, ranked[0], alone,
                rank=None if entry.control else number + 1,
                ranks=None if entry.control else intervals[number],
                readings=(min(low for low, _ in spans), max(high for _, high in spans))
                if spans else None,
                bounds=middle(means[:, number]), own=own,
            )
        )  # fmt: skip
    pairs = [_pair(one, other) for place, one in enumerate(ranked) for other in ranked[place + 1 :]]
    return Board(suite, rows, sharing, _placed(found, where), not_run, pairs)


def _pair(one: Entry, other: Entry) -> Pair:
    won, lost = won_and_lost(one.by_seed, other.by_seed)
    said = verdict(won, lost)
    return Pair(one.label, other.label, improvement(one, other), won, lost, said)


def _row(
    suite: Suite, entry: Entry, best: Entry, alone: Entry | None, *, rank: int | None,
    ranks: tuple[int, int] | None, readings: tuple[int, int] | None, bounds: tuple[float, float],
    own: list[Sharing],
) -> Row:  # fmt: skip
    met = (0, 0) if alone is None else won_and_lost(entry.by_seed, alone.by_seed)
    behind = won_and_lost(entry.by_seed, best.by_seed)
    finite = np.isfinite(entry.worst)
    return Row(
        entry.name, entry.label, entry.algorithm, entry.control, rank, ranks, readings,
        overall(entry), *bounds, *met, "" if entry is alone else verdict(*met), behind,
        verdict(*behind), 0.5 if alone is None else improvement(entry, alone),
        None if entry.newcomers is None else float(entry.newcomers.mean()),
        entry.worst if finite else None,
        sum(one.shown == "hurts" for one in own) if own else None,
        sum(one.shown == "helps" for one in own) if own else None,
        len(own), entry.megabytes, entry.seconds, suite.trials.get(entry.name),
    )  # fmt: skip


def _sharing(entry: Entry, alone: Entry, where: list[Place]) -> list[Sharing]:
    """Each agent of an algorithm beside the same agent alone, on the same seeds."""
    found = []
    for place, own, other in zip(where, entry.agents, alone.agents, strict=True):
        for agent, (ours, theirs) in enumerate(zip(own, other, strict=False)):
            won, lost = won_and_lost(ours, theirs)
            shown = {"better": "helps", "worse": "hurts"}.get(verdict(won, lost), "")
            difference = float((ours - theirs).mean())
            found.append(Sharing(entry.label, place.title, agent, difference, won, lost, shown))
    return found


def _placed(found: list[Entry], where: list[Place]) -> list[Placed]:
    from pfedrl.analysis.statistics import mean_interval

    rows = []
    for entry in found:
        for place, scores in zip(where, entry.scores, strict=True):
            low, high = (float(end) for end in mean_interval(scores))
            rows.append(
                Placed(entry.label, entry.algorithm, place.title, place.task, place.spread,
                       float(scores.mean()), low, high)
            )  # fmt: skip
    return rows


def caption(found: Board) -> str:
    """What the numbers mean."""
    suite, ordered, every = found.suite, found.separated, len(found.pairs)
    return (
        f"A score of 0 is the best control that learns nothing, 1 the ceiling, "
        f"both on the same seed; shown are interquartile means over {suite.seeds:,} "
        "seeds, averaged over tasks, with 95% intervals (bootstrap, paired by seed). "
        f"'{found.label(suite.alone)}' learns without sharing. A seed is a coin in each "
        f"comparison; evidence of 100 orders two algorithms, as it does {ordered} of {every} pairs."
    )


def table(found: Board, first: int | None = None) -> Table:
    """The leaderboard as a table; or the first of it, with both ends of the field."""
    import pandas as pd

    ends = {found.suite.alone, found.suite.central}
    rows = [row for row in found.rows if not row.control]
    controls = [row for row in found.rows if row.control]
    if first is not None:
        rows = [row for place, row in enumerate(rows) if place < first or row.name in ends]
        controls = []
    columns = {
        "rank": lambda row: NOTHING if row.rank is None else _span(row.ranks, row.rank),
        "algorithm": lambda row: row.label,
        "score": lambda row: Aligned(
            "{:.{d}f} ({:.{d}f} to {:.{d}f})", (row.score, row.low, row.high),
            digits_of((row.high - row.low) / 2),
        ),
        "against alone": lambda row: _against(found.suite, row),
        "against the best": lambda row: NOTHING
        if row.control or row.rank == 1 else SUPPORT[row.best],
        "better than alone": lambda row: f"{row.improvement:.0%}",
        "newcomers": lambda row: _number(row.newcomers),
        "worst agent": lambda row: _number(row.worst),
        "agents helped / hurt": lambda row: NOTHING
        if row.hurt is None else f"{row.helped} / {row.hurt} of {row.agents}",
        "other readings": lambda row: "" if row.readings is None else _span(row.readings),
        "MB sent": lambda row: _amount(row.megabytes),
        "core-seconds": lambda row: _amount(row.seconds),
        "tuned": lambda row: NOTHING if row.control
        else "defaults" if row.trials is None else f"{row.trials} trials",
    }  # fmt: skip
    shown = {
        name: form for name, form in columns.items()
        if any(form(row) not in ("", NOTHING) for row in rows)
    }  # fmt: skip
    words = {"algorithm", "against alone", "against the best", "tuned"}
    sections = [
        Section(title, [[form(row) for form in shown.values()] for row in chosen])
        for title, chosen in (("", rows), ("Controls", controls))
        if chosen
    ]
    return Table(
        [Column(name, words=name in words) for name in shown], sections,
        pd.DataFrame([asdict(row) for row in found.rows]),
        [f"Not run: {'; '.join(found.not_run)}."] if found.not_run and first is None else [],
    )  # fmt: skip


def _span(ends: tuple[int, int] | None, middle: int | None = None) -> str:
    """Ranks, as in '3 (2 to 5)'."""
    if ends is None:
        return NOTHING
    low, high = ends
    told = f"{low} to {high}" if low < high else f"{low}"
    return told if middle is None else f"{middle} ({told})"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}".replace("-", "−")


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _against(suite: Suite, row: Row) -> str:
    if row.name == suite.alone:
        return "itself"
    return f"{SUPPORT[row.alone]} ({row.won:,} won, {row.lost:,} lost)"
