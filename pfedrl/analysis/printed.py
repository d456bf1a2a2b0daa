"""Printed numbers beside ours: how far apart they are, as a share of what there is to learn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pfedrl.analysis.outcomes import Outcome, exactly
from pfedrl.analysis.statistics import prediction_reach
from pfedrl.analysis.summaries import Summary, sweep_name
from pfedrl.core.metrics import possible
from pfedrl.pipeline.claim import PrintedLeast
from pfedrl.pipeline.paper import Printed

SAME, NEAR = 0.02, 0.10  # of the range between the control and the best
GRADES = ("same", "near", "far", "open")
CONTROLS = ("random_policy", "zero_action", "majority_class")
BEST = ("optimal_policy", "best_found")
OF_RETURNS = ("return_median", "return_deviation")  # have the range of the mean return


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
    distance: float  # ours less theirs, as a share of the range between control and best
    grade: str
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


def compare(printed: Printed, summaries: Mapping[str, Summary]) -> Comparison:
    """A printed number beside ours."""
    summary = summaries[printed.experiment]
    along = sweep_name(printed.along) if printed.along else ""
    point = {} if printed.at is None else {along: float(printed.at)}
    cell = summary.cell_at(printed.variant, **point)
    last = summary.last(cell, printed.metric)
    ours, our_error, theirs = float(last["mean"]), float(last["se"]), float(printed.value)
    their_error, seeds = printed.standard_error, int(last["seeds"])
    away = deviation(ours, our_error, theirs, their_error, printed.half_unit)
    span = span_of(printed, cell, summaries)
    reach = prediction_reach(our_error, their_error or 0.0, printed.half_unit, seeds, 0.95)
    return Comparison(
        printed.experiment, printed.variant, printed.metric, cell, along, point.get(along),
        ours, our_error, theirs, their_error, printed.half_unit, away,
        (ours - theirs) / span, grade((ours - theirs) / span, reach / span),
        seeds, int(last["missing"]), int(last["diverged"]), printed.text,
    )  # fmt: skip


def in_columns(found: Comparison | None) -> dict[str, float | None]:
    """What a row of ours has beside it; empty where the paper prints nothing."""
    if found is None:
        return dict.fromkeys(("paper_mean", "paper_se", "deviation"))
    return {"paper_mean": found.theirs, "paper_se": found.their_error,
            "deviation": found.deviation}  # fmt: skip


def grade(distance: float, reach: float) -> str:
    """Same within 2% and near within 10%, with the whole interval; far wholly beyond; else open."""
    if abs(distance) + reach <= SAME:
        return "same"
    if abs(distance) + reach <= NEAR:
        return "near"
    return "far" if abs(distance) - reach > NEAR else "open"


def span_of(printed: Printed, cell: str, summaries: Mapping[str, Summary]) -> float:
    """The range from the control that learns nothing to the best that is known; nan without one.

    Both are taken from the number's own experiment, or from another of the same artifact on the
    same family.
    """
    own = summaries[printed.experiment]
    family = own.family(cell)
    metric = "return_average" if printed.metric in OF_RETURNS else printed.metric
    for summary in (own, *(one for one in summaries.values() if one is not own)):
        floors = list(_finals(summary, CONTROLS, metric, family))
        if floors:
            tops = [*_finals(summary, BEST, metric, family), possible(metric, family)[1]]
            return float(tops[0] - floors[0]) if np.isfinite(tops[0]) else np.nan
    return np.nan


def _finals(
    summary: Summary, variants: tuple[str, ...], metric: str, family: Mapping[str, object]
) -> Iterator[float]:
    """The means of such variants on a family, where they were run and measured."""
    for cell, facts in summary.facts["cells"].items():
        known = facts["variant"] in variants and facts["settings"]["family"] == family
        if known and summary.measures(cell, metric):
            yield float(summary.final(cell, metric).mean())


def printed_least(test: PrintedLeast, printed: Mapping[str, float]) -> Outcome:
    """Decided by the paper's own numbers: nothing is run for it."""
    own = printed[test.least]
    less = [f"{value:g}" for value in printed.values() if value < own]
    words = (
        f"the paper prints {own:g}, and less for {len(less)} of {len(printed) - 1} others"
        f"{': ' if less else ''}{', '.join(less)}; no run of ours is needed"
    )
    return exactly(words, 0, not less)
