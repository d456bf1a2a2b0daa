"""Printed numbers beside ours: the difference, in combined standard errors."""

from dataclasses import dataclass

import numpy as np

from pfedrl.analysis.summaries import Summary, sweep_name
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
