"""The audit: one line for each statement, with its verdict and how tight its bound was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.outcomes import OUTSIDE, ROUNDING
from pfedrl.analysis.output import short
from pfedrl.analysis.style import FAINT, INK, WIDTH
from pfedrl.analysis.theory import instances
from pfedrl.analysis.verdict import CONTRADICTED, REPLICATED
from pfedrl.pipeline.claim import Claim, Exists, Holds, Near

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOLDS, SLACK, FAILS, OPEN = "holds", "holds with slack", "fails", "open"
COLOURS = {HOLDS: "#009E73", SLACK: "#56B4E9", FAILS: "#D55E00", OPEN: FAINT, OUTSIDE: FAINT}
MARKS = {HOLDS: "o", SLACK: "o", FAILS: "X", OPEN: "D", OUTSIDE: "|"}
LOOSE = 0.1  # a bound of which no instance used more than this holds with slack
LEAST, MOST = 1e-6, 1e4  # the ends of the axis of shares
LINE, HEAD, FOOT = 0.17, 0.3, 0.45  # inches: a line, above the lines, below them
LEFT, RIGHT = 0.535, 0.76  # the panel's ends, as shares of the width
WORDS = -LEFT / (RIGHT - LEFT)  # where the words begin, in widths of the panel


class Options(BaseOptions):
    """Statements with verdicts."""

    groups: dict[str, str] = Field(description="an experiment to its heading")
    tightness: dict[str, str] = Field(description="a claim to the metric of how tight its bound is")

    def named(self) -> Iterator[Named]:
        for experiment in self.groups:
            yield Named("groups", experiment)


def draw(context: Context) -> Drawing:
    import pandas as pd
    from matplotlib.figure import Figure

    from pfedrl.analysis.claims import Judge, judge_all

    claims = [c for c in context.paper.claims if experiment_of(c) in context.summaries]
    results = {one["id"]: one for one in judge_all(Judge(context.paper, context.summaries))}
    verdicts = [results[claim.id] for claim in claims]
    rows = [_row(context, c, v) for c, v in zip(claims, verdicts, strict=True)]
    data = pd.DataFrame(rows)
    lines = len(rows) + data["group"].nunique()
    height = LINE * lines + HEAD + FOOT
    figure = Figure(figsize=(WIDTH, height))
    figure.set_layout_engine("none")  # words stand outside the panel
    panel = (LEFT, FOOT / height, RIGHT - LEFT, LINE * lines / height)
    _draw(figure.add_axes(panel), data)
    return Drawing(figure, data)


def experiment_of(claim: Claim) -> str:
    return claim.tests[0].experiment


def _row(context: Context, claim: Claim, verdict: dict[str, Any]) -> dict[str, Any]:
    options = context.options(Options)
    used = _tightness(context, claim, options.tightness.get(claim.id))
    states = {REPLICATED: HOLDS, CONTRADICTED: FAILS, OUTSIDE: OUTSIDE}
    state = states.get(verdict["badge"], OPEN)
    if state == HOLDS and used is not None and used < LOOSE:
        state = SLACK
    return {
        "group": options.groups[experiment_of(claim)],
        "claim": claim.id,
        "words": claim.words,
        "state": state,
        "tightness": np.nan if used is None else used,
        "instances": verdict["seeds"],
        "says": _says(context, claim, verdict),
    }


def _tightness(context: Context, claim: Claim, metric: str | None) -> float | None:
    """The largest share of the bound that an instance used; none where nothing is bounded."""
    if metric is None or not isinstance(claim.test, Holds):
        return None
    drawn = instances(context.summaries[claim.test.experiment], claim.test.variant, metric)
    return float(drawn.table["value"].max())


def _says(context: Context, claim: Claim, verdict: dict[str, Any]) -> str:
    """The numbers behind the verdict, in a few words."""
    test, count = claim.test, verdict["seeds"]
    if isinstance(test, Holds | Exists):
        drawn = instances(context.summaries[test.experiment], test.variant, test.metric)
        if isinstance(test, Exists):
            return f"{drawn.above(test.above):,} of {count:,} instances"
        failing = drawn.below(-ROUNDING)
        return f"fails on {failing:,} of {count:,}" if failing else f"all {count:,} instances"
    name, found = "slope" if isinstance(test, Near) else "difference", verdict["comparisons"][0]
    middle, low, high = (short(found[key], 2) for key in ("effect", "low", "high"))
    return f"{name} {middle} [{low}, {high}]"


def _draw(axis: Axes, data: pd.DataFrame) -> None:
    """Words on the left, shares of bounds on a logarithmic axis, findings on the right."""
    axis.set_xscale("log")
    axis.set_xlim(LEAST, MOST)
    beside = axis.get_yaxis_transform()  # x in widths of the panel, y as the line's number
    y = 0
    for group, rows in data.groupby("group", sort=False):
        axis.text(WORDS + 0.03, y, str(group), transform=beside, fontweight="bold", va="center")
        y += 1
        for row in rows.itertuples():
            _line(axis, y, row)
            y += 1
    axis.axvline(1.0, color=INK, lw=0.8)
    axis.set_ylim(y - 0.5, -0.5)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("largest share of the bound used (1: tight)")
    for state, colour in COLOURS.items():
        axis.plot([], [], MARKS[state], color=colour, mfc=face(state), label=state)
    axis.legend(loc="lower left", bbox_to_anchor=(WORDS, 1.0), ncols=len(COLOURS))


def face(state: str) -> str:
    """The inside of a mark: hollow for slack, so that it differs by more than its colour."""
    return "white" if state == SLACK else COLOURS[state]


def _line(axis: Axes, y: int, row: Any) -> None:
    beside, colour = axis.get_yaxis_transform(), COLOURS[row.state]
    mark: dict[str, Any] = {"color": colour, "mfc": face(row.state), "clip_on": False, "zorder": 3}
    axis.plot(WORDS + 0.06, y, MARKS[row.state], transform=beside, **mark)
    axis.text(WORDS + 0.12, y, row.words, transform=beside, va="center", fontsize=6)
    axis.text(1.03, y, row.says, transform=beside, va="center", fontsize=6,
              color=colour if row.state == FAILS else INK)  # fmt: skip
    if np.isfinite(row.tightness):
        share = min(max(row.tightness, LEAST), MOST)
        off = {LEAST: "<", MOST: ">"}.get(share, MARKS[row.state])
        axis.plot([1.0, share], [y, y], color=colour, lw=0.9)
        axis.plot(share, y, off, **mark)
