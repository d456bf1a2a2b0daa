"""The audit: one line a statement, with its verdict and how tight it was."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pfedrl.analysis.claims import TESTS, judge
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.instances import instances
from pfedrl.analysis.output import short
from pfedrl.analysis.style import FAINT, INK, WIDTH
from pfedrl.settings.paper import Claim, Exists, Holds, Near

HOLDS, SLACK, FAILS, OPEN = "holds", "holds with slack", "fails", "open"
COLOURS = {HOLDS: "#009E73", SLACK: "#56B4E9", FAILS: "#D55E00", OPEN: FAINT}
MARKS = {HOLDS: "o", SLACK: "o", FAILS: "X", OPEN: "D"}
LOOSE = 0.1  # a bound of which no instance used more than this holds with slack
LEAST, MOST = 1e-8, 1e5  # the ends of the axis of shares


def draw(context: Context) -> Drawing:
    claims = [c for c in context.paper.claims if experiment_of(c) in context.summaries]
    outcomes = [TESTS[c.test.kind](c.test, context.summaries[experiment_of(c)]) for c in claims]
    verdicts = judge(claims, outcomes)
    rows = [_row(context, c, v) for c, v in zip(claims, verdicts, strict=True)]
    data = pd.DataFrame(rows)
    height = 0.19 * (len(rows) + data["group"].nunique()) + 0.9
    figure = Figure(figsize=(WIDTH, height))
    _draw(figure.subplots(), data)
    return Drawing(figure, data)


def experiment_of(claim: Claim) -> str:
    return str(getattr(claim.test, "experiment", ""))


def _row(context: Context, claim: Claim, verdict: dict[str, Any]) -> dict[str, Any]:
    options = context.artifact.options
    used = _tightness(context, claim, options["tightness"].get(claim.id))
    state = {"reproduced": HOLDS, "contradicted": FAILS}.get(verdict["verdict"], OPEN)
    if state == HOLDS and used is not None and used < LOOSE:
        state = SLACK
    return {
        "group": options["groups"][experiment_of(claim)],
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
    return float(np.nanmax(drawn.values))


def _says(context: Context, claim: Claim, verdict: dict[str, Any]) -> str:
    """What was found, in a few words."""
    test, count = claim.test, verdict["seeds"]
    if isinstance(test, Holds | Exists):
        drawn = instances(context.summaries[test.experiment], test.variant, test.metric)
        if isinstance(test, Exists):
            return f"{drawn.above(test.tolerance):,} of {count:,} instances"
        failing = drawn.below(-test.tolerance)
        return f"fails on {failing:,} of {count:,}" if failing else f"all {count:,} instances"
    add = test.value if isinstance(test, Near) else 0.0
    name = "slope" if isinstance(test, Near) else "difference"
    middle, low, high = (short(verdict[key] + add, 2) for key in ("effect", "low", "high"))
    return f"{name} {middle} [{low}, {high}]"


def _draw(axis: Axes, data: pd.DataFrame) -> None:
    """Words on the left, shares of bounds on a logarithmic axis, findings on the right."""
    axis.set_xscale("log")
    axis.set_xlim(LEAST, MOST)
    y = 0.0
    for group, rows in data.groupby("group", sort=False):
        axis.text(-1.22, y, str(group), transform=axis.get_yaxis_transform(), fontweight="bold",
                  va="center")  # fmt: skip
        y += 1
        for row in rows.itertuples():
            _line(axis, y, row)
            y += 1
    axis.axvline(1.0, color=INK, lw=0.8)
    axis.set_ylim(y - 0.4, -0.7)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("share of the bound that the tightest instance used (1: tight)")
    for state, colour in COLOURS.items():
        axis.plot([], [], MARKS[state], color=colour, label=state)
    axis.legend(loc="lower center", bbox_to_anchor=(0.0, 1.0), ncols=len(COLOURS))


def _line(axis: Axes, y: float, row: Any) -> None:
    beside = axis.get_yaxis_transform()  # x as a share of the panel, y as the line's number
    colour = COLOURS[row.state]
    axis.plot(-1.2, y, MARKS[row.state], color=colour, transform=beside, clip_on=False)
    axis.text(-1.17, y, row.words, transform=beside, va="center", fontsize=6.3)
    axis.text(1.02, y, row.says, transform=beside, va="center", fontsize=6.3, color=colour)
    if np.isfinite(row.tightness):
        share = min(max(row.tightness, LEAST), MOST)
        axis.plot([LEAST, share], [y, y], color=colour, lw=2.2, solid_capstyle="butt")
