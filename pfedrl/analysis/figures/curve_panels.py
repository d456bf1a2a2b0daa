"""Learning curves in panels: for each panel an experiment, and for each line a cell and a metric.

Options: `panels`, each with `title`, `experiment`, `lines` and, where wanted, `agent` (else agents
are pooled), `until` (the last episode drawn), `limits` of the vertical axis and `mark` (a dashed
level); `columns`; `band`, how many standard errors are shaded (else the 95% interval); `x` and `y`,
the axes' names. A line has a `cell`, a `metric`, and where wanted a `label`, a `line` and a
`colour` of its own.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import FAINT, label_of, new_figure, panel_labels, style_of
from pfedrl.analysis.summaries import Summary
from pfedrl.core.errors import unknown
from pfedrl.core.recorder import ALL_AGENTS

KEPT = ["at", "mean", "se", "median", "low", "high", "seeds", "diverged"]
LEGEND_COLUMNS = 5
PANEL_HEIGHT, LEGEND_HEIGHT = 1.75, 0.35  # inches


def draw(context: Context) -> Drawing:
    options = context.artifact.options
    panels, columns = options["panels"], options.get("columns", 2)
    rows = -(-len(panels) // columns)
    figure, grid = new_figure(
        PANEL_HEIGHT * rows + LEGEND_HEIGHT, nrows=rows, ncols=columns, squeeze=False
    )
    axes = list(grid.flat)
    entries: dict[str, Line2D] = {}
    frames = []
    for axis, panel in zip(axes, panels, strict=False):
        summary = context.summaries[panel["experiment"]]
        axis.set_title(panel["title"], loc="left")
        axis.set_xlabel(options.get("x", "episode"))
        axis.set_ylabel(options.get("y", "return"))
        for line in panel["lines"]:
            data = curve(summary, line, panel)
            frames.append(data.assign(panel=panel["title"], line=label(summary, line)))
            drawn = plot(axis, summary, line, data, options.get("band"))
            entries.setdefault(label(summary, line), drawn)
        if "mark" in panel:
            axis.axhline(panel["mark"], color=FAINT, ls="--", lw=0.9)
        if "limits" in panel:
            axis.set_ylim(*panel["limits"])
        axis.margins(x=0.01)
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    panel_labels(axes[: len(panels)])
    lines = -(-len(entries) // LEGEND_COLUMNS)  # rows of the legend, as equal as they can be
    figure.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        ncols=-(-len(entries) // lines),
    )
    data = pd.concat(frames, ignore_index=True)
    return Drawing(figure, data[["panel", "line", "cell", "metric", *KEPT]])


def curve(summary: Summary, line: dict[str, Any], panel: dict[str, Any]) -> pd.DataFrame:
    """The statistics along a line."""
    rows = summary.statistics
    known = set(rows["cell"])
    if line["cell"] not in known:
        raise unknown("cell", line["cell"], known, summary.experiment)
    rows = rows[
        (rows["cell"] == line["cell"])
        & (rows["metric"] == line["metric"])
        & (rows["agent"] == panel.get("agent", ALL_AGENTS))
    ]
    if "until" in panel:
        rows = rows[rows["at"] <= panel["until"]]
    return rows.sort_values("at")[["cell", "metric", *KEPT]].astype({"cell": str, "metric": str})


def algorithm(summary: Summary, line: dict[str, Any]) -> str:
    rows = summary.statistics
    return str(rows.loc[rows["cell"] == line["cell"], "algorithm"].iloc[0])


def label(summary: Summary, line: dict[str, Any]) -> str:
    return line.get("label") or label_of(algorithm(summary, line))


def plot(
    axis: Axes, summary: Summary, line: dict[str, Any], data: pd.DataFrame, band: float | None
) -> Line2D:
    """A curve with its band; what was looked at once is a level across the panel."""
    style = style_of(algorithm(summary, line))
    look: dict[str, Any] = {
        "color": line.get("colour", style.colour), "ls": line.get("line", style.line)
    }  # fmt: skip
    if len(data) == 1:
        return axis.axhline(data["mean"].iloc[0], lw=0.9, **look)
    low, high = data["low"], data["high"]
    if band is not None:
        low, high = data["mean"] - band * data["se"], data["mean"] + band * data["se"]
    axis.fill_between(data["at"], low, high, color=look["color"], alpha=0.12, lw=0)
    return axis.plot(data["at"], data["mean"], lw=1.0, **look)[0]
