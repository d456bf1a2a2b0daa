"""Printed numbers beside ours: how far apart they are, and whether they agree.

Agreement within a margin is tested, not assumed when no difference is found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pfedrl.analysis.evidence import LEVEL, level_at, look, worst_without_one
from pfedrl.analysis.outcomes import CONTRADICTED, REPRODUCED, UNDECIDED, Apart, Outcome, within
from pfedrl.analysis.output import short
from pfedrl.analysis.statistics import prediction_reach
from pfedrl.analysis.summaries import Summary, sweep_name
from pfedrl.pipeline.claim import Agrees, PrintedLeast
from pfedrl.pipeline.paper import Printed


@dataclass(frozen=True)
class Comparison:
    """One printed number and ours."""

    experiment: str
    variant: str
    metric: str
    cell: str
    along: str
    at: float | None
    ours: float
    our_error: float
    theirs: float
    their_error: float | None  # None where the paper prints none; never 0
    half: float  # of the last printed digit
    deviation: float  # in combined standard errors, less the rounding of the printed number
    seeds: int
    missing: int
    diverged: int
    printed: str  # as the paper has it


def deviation(
    ours: float, our_error: float, theirs: float, their_error: float | None, half: float
) -> float:
    """Ours minus theirs in combined standard errors; what rounding explains is no deviation.

    Where no error is printed it is unknown, and so is the deviation.
    """
    difference = ours - theirs
    beyond = max(abs(difference) - half, 0.0)
    if their_error is None or np.isnan(ours):
        return np.nan
    return float(np.sign(difference) * beyond / np.hypot(our_error, their_error))


def compare(printed: Printed, summary: Summary) -> Comparison:
    """A printed number beside ours."""
    along = sweep_name(printed.along) if printed.along else ""
    point = {} if printed.at is None else {along: float(printed.at)}
    cell = summary.cell_at(printed.variant, **point)
    last = summary.last(cell, printed.metric)
    ours, our_error, theirs = float(last["mean"]), float(last["se"]), float(printed.value)
    their_error = printed.standard_error
    away = deviation(ours, our_error, theirs, their_error, printed.half_unit)
    return Comparison(
        printed.experiment, printed.variant, printed.metric, cell, along, point.get(along),
        ours, our_error, theirs, their_error, printed.half_unit, away,
        int(last["seeds"]), int(last["missing"]), int(last["diverged"]), printed.text,
    )  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A printed number with our values by seed, less it."""

    compared: Comparison
    apart: np.ndarray
    margin: float
    p_for: float
    p_against: float


def _row(compared: Comparison, summary: Summary, share: float) -> Row:
    """Rounding takes from the margin what it may hide, and adds it where numbers differ."""
    apart = summary.final(compared.cell, compared.metric) - compared.theirs
    margin = share * abs(compared.theirs)
    error = compared.their_error or 0.0
    if not np.isfinite(apart).all():
        return Row(compared, apart, margin, 1.0, 1.0)
    equal, differs = within(margin - compared.half, error), within(margin + compared.half, error)
    p_for = equal.p_for(apart, None) if margin > compared.half else 1.0
    # nothing contradicts a number whose own uncertainty is not known
    p_against = 1.0 if compared.their_error is None else differs.p_against(apart, None)
    return Row(compared, apart, margin, p_for, p_against)


def agrees(test: Agrees, comparisons: list[Comparison], summaries: dict[str, Summary]) -> Outcome:
    """Every printed number lies within the margin of ours (two one-sided tests each); one that is
    clearly further off contradicts. Beside it: how many lie where a mean like ours would fall."""
    rows = [_row(c, summaries[c.experiment], test.margin) for c in comparisons]
    seeds = min(c.seeds for c in comparisons)
    worst = max(rows, key=lambda r: _off(r.compared) / r.margin if r.margin else np.inf)
    c = worst.compared
    inside = [
        abs(r.compared.ours - r.compared.theirs) <= reach
        for r in rows
        if (reach := _reach(r.compared)) is not None
    ]
    evidence = (
        f"{sum(r.p_for < LEVEL for r in rows)} of {len(rows)} printed numbers are equal to ours "
        f"within {test.margin:.1%}; furthest: {c.cell} of {c.experiment} ({c.metric}), ours "
        f"{short(c.ours, 5)}, printed {short(c.theirs, 5)}"
    )
    if inside:
        evidence += f"; {sum(inside)} of {len(inside)} lie in the 99% prediction interval of ours"
    if len(inside) < len(rows):
        evidence += f"; no uncertainty is printed for {len(rows) - len(inside)}"
    empty = sum(not np.isfinite(r.apart).all() for r in rows)
    if empty:
        evidence += f"; for {empty}, some of our seeds have no value"
    unsure = sum(map(_too_unsure, rows))
    if unsure:
        evidence += f"; for {unsure}, the printed error is too large to test this margin"
    if seeds < 2:
        return Outcome(evidence, seeds, UNDECIDED)

    def p_for_without(row: Row) -> float:
        rule = within(row.margin - row.compared.half, row.compared.their_error or 0.0)
        return worst_without_one([row.apart], lambda s, at: rule.p_for(s[0], at))

    def p_against_without(row: Row) -> float:
        rule = within(row.margin + row.compared.half, row.compared.their_error or 0.0)
        return len(rows) * worst_without_one([row.apart], lambda s, at: rule.p_against(s[0], at))

    p_for = max(r.p_for for r in rows)
    furthest = min(rows, key=lambda r: r.p_against)
    p_against = min(1.0, len(rows) * furthest.p_against)
    apart = Apart.of(worst.apart, worst.margin - _off(c), 2 * len(rows), c.their_error or 0.0)
    return Outcome(
        evidence,
        seeds,
        p_for=p_for,
        p_against=p_against,
        p_for_without=max(map(p_for_without, rows)) if p_for < LEVEL else p_for,
        p_against_without=p_against_without(furthest) if p_against < LEVEL else p_against,
        effect=c.ours - c.theirs,
        apart=None if empty else apart,
        may_hold=not unsure,
        may_fail=c.their_error is not None,
    )


def printed_least(test: PrintedLeast, printed: Mapping[str, float]) -> Outcome:
    """Decided by the paper's own numbers: nothing is run for it."""
    own = printed[test.least]
    less = [f"{value:g} for {cell}" for cell, value in printed.items() if value < own]
    evidence = (
        f"the paper prints {own:g} for {test.least} and less for {len(less)} of {len(printed) - 1} "
        f"others{': ' if less else ''}{', '.join(less)}; no run of ours is needed"
    )
    return Outcome(evidence, 0, CONTRADICTED if less else REPRODUCED)


def _too_unsure(row: Row) -> bool:
    """Whether no more seeds of ours could show equality: the paper's own are too few."""
    share = level_at(look(row.compared.seeds) or 0)
    reach = NormalDist().inv_cdf(1 - share) * (row.compared.their_error or 0.0)
    return reach >= row.margin - row.compared.half


def _off(compared: Comparison) -> float:
    return max(abs(compared.ours - compared.theirs) - compared.half, 0.0)


def _reach(compared: Comparison) -> float | None:
    if compared.their_error is None:
        return None
    return prediction_reach(
        compared.our_error, compared.their_error, compared.half, compared.seeds, 1 - LEVEL
    )
