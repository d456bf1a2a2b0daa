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
    their_error: float
    deviation: float  # in combined standard errors, less the rounding of the printed number
    seeds: int
    diverged: int


def half_unit(values: list[float]) -> float:
    """Half of the last digit to which numbers were printed; a dropped trailing zero is no digit."""
    decimals = max(len(np.format_float_positional(v, trim="-").partition(".")[2]) for v in values)
    return 0.5 * 10.0**-decimals


def deviation(
    ours: float, our_error: float, theirs: float, their_error: float, half: float
) -> float:
    """Ours minus theirs in combined standard errors; what rounding explains is no deviation.

    An error printed as 0.00 is not zero but below half of the last digit, so that half is taken.
    """
    difference = ours - theirs
    beyond = max(abs(difference) - half, 0.0)
    if np.isnan(ours):
        return np.nan
    return float(np.sign(difference) * beyond / np.hypot(our_error, their_error or half))


def compare(printed: Printed, summary: Summary) -> list[Comparison]:
    """Every value of a block of printed numbers beside ours."""
    along = sweep_name(printed.along) if printed.along else ""
    points = [{along: float(at)} for at in printed.at] if along else [{}] * len(printed.values)
    half = half_unit(printed.values)
    rows = []
    for point, theirs, their_error in zip(points, printed.values, printed.errors, strict=True):
        cell = summary.cell_at(printed.variant, **point)
        last = summary.last(cell, printed.metric)
        ours = float(last["mean"])
        away = deviation(ours, float(last["se"]), theirs, their_error, half)
        rows.append(
            Comparison(
                printed.experiment, printed.variant, printed.metric, cell, along,
                point.get(along), ours, float(last["se"]), theirs, their_error, away,
                int(last["seeds"]), int(last["diverged"]),
            )
        )  # fmt: skip
    return rows
