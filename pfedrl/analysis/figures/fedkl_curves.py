"""FedKL, Figures 4, 6 and 7 and `artefact`: metrics over rounds, a panel each."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import label_of, legend, new_figure, panel_labels, ramp, style_of

WANTED = ["at", "mean", "se", "low", "high", "seeds", "diverged"]


def draw(context: Context) -> Drawing:
    """Options: `panels`, each a metric, its label and limits; `lines`, each an experiment's cell.

    Lines have their algorithm's style, or a ramp's where one algorithm has several. A control was
    looked at once: its line is level.
    """
    panels, lines = context.artifact.options["panels"], context.artifact.options["lines"]
    metrics = dict.fromkeys(panel["metric"] for panel in panels)
    data = pd.concat(
        [
            _data(context, metric, line)
            for metric in metrics
            for line in lines
            # a control has no course: it has no fall from its best
            if context.summaries[line["experiment"]].measures(line["cell"], metric)
        ]
    )
    styles = _styles(context, lines)
    figure, axes = new_figure(2.6, ncols=len(panels), squeeze=False)
    for axis, panel in zip(axes[0], panels, strict=True):
        rows = data[data["metric"] == panel["metric"]]
        for line, style in zip(lines, styles, strict=True):
            _plot(axis, rows[rows["line"] == _label(context, line)], _label(context, line), style)
        axis.set_title(panel["title"], loc="left")
        axis.set_xlabel("round")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_ylabel(panel["label"])
        axis.margins(x=0.01)
        if "limits" in panel:
            axis.set_ylim(*panel["limits"])
    legend(axes[0][0])
    panel_labels(list(axes[0]))
    return Drawing(figure, data.reset_index(drop=True))


def _algorithm(context: Context, line: dict[str, Any]) -> str:
    cells = context.summaries[line["experiment"]].facts["cells"]
    return str(cells[line["cell"]]["settings"]["algorithm"]["name"])


def _label(context: Context, line: dict[str, Any]) -> str:
    return str(line.get("label") or label_of(_algorithm(context, line)))


def _data(context: Context, metric: str, line: dict[str, Any]) -> pd.DataFrame:
    curve = context.summaries[line["experiment"]].curve(line["cell"], metric)[WANTED].copy()
    curve.insert(0, "metric", metric)
    curve.insert(1, "line", _label(context, line))
    return curve


def _styles(context: Context, lines: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    algorithms = [_algorithm(context, line) for line in lines]
    if len(set(algorithms)) < len(algorithms):
        return ramp(len(lines))
    return [(style_of(name).colour, style_of(name).line) for name in algorithms]


def _plot(axis: Axes, rows: pd.DataFrame, label: str, style: tuple[Any, Any]) -> None:
    colour, line = style
    if rows.empty:
        return
    if len(rows) == 1:
        axis.axhline(rows["mean"].iloc[0], color=colour, ls=line, lw=0.9, label=label)
        return
    axis.plot(rows["at"], rows["mean"], color=colour, ls=line, label=label)
    axis.fill_between(rows["at"], rows["low"], rows["high"], color=colour, alpha=0.15, lw=0)
