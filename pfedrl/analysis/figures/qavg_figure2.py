"""QAvg, Figure 2: how often to meet. Left the converged objectives, right QAvg's curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pfedrl.analysis.curves import draw_curves, handles, shades
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.printed import Comparison, in_columns
from pfedrl.analysis.style import (
    FAINT,
    INK,
    PAPER,
    Style,
    label_of,
    legend,
    new_figure,
    panel_labels,
)
from pfedrl.analysis.summaries import STATISTICS, Summary
from pfedrl.analysis.tables import estimate, final, sweep_text
from pfedrl.core.errors import PfedrlError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

METRIC = "objective"
ALONG = "local_steps"
CURVES = "qavg"  # the variant whose curves are drawn


def draw(context: Context) -> Drawing:
    import pandas as pd

    by_variant = {_variant(summary): summary for summary in context.summaries.values()}
    compared = {(row.variant, row.at): row for row in context.comparisons()}
    table = _table_data(by_variant, compared)
    curves = _curve_data(by_variant[CURVES])
    figure, grid = new_figure(3.6, nrows=2, ncols=2, width_ratios=[1.12, 1])
    left = figure.add_subplot(grid[0, 0].get_gridspec()[:, 0])
    right, lower = grid[:, 1]
    for axis in grid[:, 0]:
        axis.remove()
    left.set_title("Converged objective", loc="left")
    _draw_table(left, table, list(by_variant))
    right.set_title(f"{label_of(CURVES)} over iterations", loc="left")
    _draw_curves(right, curves, context.styles.of(CURVES))
    lower.set_title(f"{label_of(CURVES)} at convergence", loc="left")
    _draw_converged(lower, table[table["variant"] == CURVES], context.styles.of(CURVES))
    panel_labels([left, right, lower])
    return Drawing(figure, pd.concat([table, curves], ignore_index=True))


def _variant(summary: Summary) -> str:
    """The one variant that is swept; controls beside it have no E."""
    swept = summary.statistics[summary.statistics[ALONG].notna()]["variant"].unique()
    if len(swept) != 1:
        raise PfedrlError(f"{summary.experiment}: {len(swept)} variants are swept, not one.")
    return str(swept[0])


def _table_data(
    by_variant: dict[str, Summary], compared: dict[tuple[str, float | None], Comparison]
) -> pd.DataFrame:
    """Each cell's last point, and the largest mean on the way, as the authors' script prints."""
    import pandas as pd

    rows = []
    for variant, summary in by_variant.items():
        for steps, cell in summary.points_along(variant, ALONG).items():
            last = summary.last(cell, METRIC)
            rows.append({
                "panel": "left", "variant": variant, "local_steps": steps, "at": last["at"],
                "largest_mean": summary.curve(cell, METRIC)["mean"].max(),
                **{key: last[key] for key in STATISTICS},
                **in_columns(compared.get((variant, steps))),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _curve_data(summary: Summary) -> pd.DataFrame:
    import pandas as pd

    curves = [summary.curve(cell, METRIC) for cell in summary.points_along(CURVES, ALONG).values()]
    wanted = ["variant", "local_steps", "at", *STATISTICS]
    data = pd.concat(curves)[wanted]
    data.insert(0, "panel", "right")
    return data.astype({"variant": str})


def _draw_table(axis: Axes, data: pd.DataFrame, variants: list[str]) -> None:
    """Ours on each line, the paper's number in grey below it, ruled as a printed table is."""
    axis.set_axis_off()
    steps = sorted(data["local_steps"].unique())
    height = 1 / (len(steps) + 1.3)  # a heading, and a little air under its rule
    centres = [0.24 + 0.3 * i for i in range(len(variants))]

    def write(x: float, y: float, text: str, **how: object) -> None:
        axis.text(x, y, text, transform=axis.transAxes, ha="center", va="center", **how)  # type: ignore[arg-type]

    def rule(y: float, width: float) -> None:
        axis.plot([0, 1], [y, y], transform=axis.transAxes, color=INK, lw=width, clip_on=False)

    write(0.04, 1 - height / 2, "E", fontstyle="italic")
    for x, variant in zip(centres, variants, strict=True):
        write(x, 1 - height / 2, label_of(variant))
    indexed = data.set_index(["variant", "local_steps"])
    for number, value in enumerate(steps, start=1):
        y = 1 - (number + 0.65) * height
        write(0.04, y, sweep_text(value))
        for x, variant in zip(centres, variants, strict=True):
            if (variant, value) not in indexed.index:
                continue
            row = indexed.loc[(variant, value)]
            write(x, y + 0.22 * height, final(row))
            if not math.isnan(row["paper_mean"]):
                theirs = estimate(row["paper_mean"], row["paper_se"])
                write(x, y - 0.24 * height, theirs, color=FAINT, fontsize=5.8)
    rule(1, 0.9)
    rule(1 - height, 0.5)
    rule(0, 0.9)
    note = "mean ± s.e. over seeds; in grey the paper's"
    write(0.5, -0.05, note, color=FAINT, fontsize=6)


def _draw_curves(axis: Axes, data: pd.DataFrame, style: Style) -> None:
    """Iterations on a logarithmic axis, counted from 1: most schedules end within the first few."""
    steps = sorted(data["local_steps"].unique())
    labels = [f"E = {sweep_text(value)}" for value in steps]
    given = dict(zip(labels, shades(style, len(steps)), strict=True))
    lines = data["local_steps"].map(dict(zip(steps, labels, strict=True)))
    draw_curves(axis, data.assign(line=lines, at=data["at"] + 1), given)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("iteration + 1")
    axis.set_ylabel("objective (mean, 95% CI)")
    legend(axis, handles(given), given)


def _draw_converged(axis: Axes, data: pd.DataFrame, style: Style) -> None:
    """The last objectives on an axis of their own, beside the paper's."""
    places = range(len(data))
    bars = [data["mean"] - data["low"], data["high"] - data["mean"]]
    axis.errorbar(places, data["mean"], bars, color=style.colour, ls="", marker="o", ms=3,
                  label="ours (95% CI)")  # fmt: skip
    errors = 1.96 * data["paper_se"]
    axis.errorbar([place + 0.2 for place in places], data["paper_mean"], errors, color=FAINT,
                  ecolor=FAINT, label="printed in the paper", **PAPER)  # fmt: skip
    axis.set_xticks(places, [sweep_text(value) for value in data["local_steps"]])
    axis.set_xlabel("E")
    axis.set_ylabel("objective")
    axis.legend(loc="lower left", fontsize=6)
