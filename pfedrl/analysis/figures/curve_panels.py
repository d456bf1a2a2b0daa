"""Learning curves in panels: for each line a cell and a metric of an experiment."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from pfedrl.analysis.curves import Look, draw_curves, handles, looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.labels import filled
from pfedrl.analysis.style import CEILING, FAINT, leave_empty, new_figure, panel_labels
from pfedrl.core.metrics import possible
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.drawings import CurveLine, CurvePanel, CurvePanels

KEPT = ["at", "mean", "se", "median", "low", "high", "seeds", "missing", "diverged"]
LEGEND_COLUMNS = 5
MARK: dict[str, Any] = {"color": FAINT, "ls": "--", "lw": 0.9}
PANEL_HEIGHT, LEGEND_HEIGHT = 1.75, 0.35  # inches


@dataclass(frozen=True)
class Curve:
    """A line of a panel, found in its experiment's summary."""

    panel: int
    label: str
    algorithm: str
    data: pd.DataFrame
    ceiling: bool = False


def draw(context: Context) -> Drawing:
    options = context.options(CurvePanels)
    panels, columns = options.panels, min(options.columns, len(options.panels))
    curves = [
        curve
        for number, panel in enumerate(panels)
        for line in panel.lines or options.lines
        if (curve := find(context, options, number, panel, line)) is not None
    ]
    rows = -(-len(panels) // columns)
    legends = 1 if options.legend == "figure" else rows
    height = PANEL_HEIGHT * rows + LEGEND_HEIGHT * legends
    figure, grid = new_figure(height, nrows=rows, ncols=columns, squeeze=False)
    axes = list(grid.flat)
    shared = styled(context, curves)
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=False)):
        own = [curve for curve in curves if curve.panel == number]
        if all(curve.ceiling for curve in own):
            leave_empty(axis, panel.title, reason(context, options, panel))
            continue
        given = shared if options.legend == "figure" else styled(context, own)
        draw_curves(axis, pd.concat([curve.data for curve in own]), given, options.intervals)
        dress(axis, panel, options)
        if options.legend == "panel":
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.28), "fontsize": 6}
            close = {"ncols": min(3, len(given)), "columnspacing": 0.8, "handlelength": 1.6}
            axis.legend(handles(given), given, **below, **close)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    if len(panels) > 1:
        panel_labels(axes[: len(panels)])
    if options.legend == "figure":
        drawn, labels = [*handles(shared)], [*shared]
        if marks := [f"{panel.mark:g}" for panel in panels if panel.mark is not None]:
            drawn.append(Line2D([], [], **MARK))
            labels.append(" and ".join(marks).replace("-", "−"))
        lines = -(-len(labels) // LEGEND_COLUMNS)  # rows of the legend, as equal as they can be
        figure.legend(drawn, labels, loc="outside lower center", ncols=-(-len(labels) // lines))
    frames = [curve.data.assign(panel=panels[curve.panel].title) for curve in curves]
    data = pd.concat(frames, ignore_index=True)
    return Drawing(figure, data[["panel", "line", "cell", "metric", *KEPT]])


def styled(context: Context, curves: list[Curve]) -> dict[str, Look]:
    """A look for each label; a ceiling is a control, whoever reached it."""
    of = {curve.label: CEILING if curve.ceiling else curve.algorithm for curve in curves}
    return looks({label: context.styles.of(algorithm) for label, algorithm in of.items()})


def find(
    context: Context, options: CurvePanels, number: int, panel: CurvePanel, line: CurveLine
) -> Curve | None:
    """A line's statistics; None where a line of the whole figure lacks the panel's metric, and
    where its experiment was not run."""
    experiment = line.experiment or panel.experiment or context.artifact.experiments[0]
    if experiment in context.absent:
        return None
    summary = context.summaries[experiment]
    metric = line.metric or panel.metric
    assert metric is not None, "the options' model asks for one"
    known = line.cell in summary.facts["cells"]
    if known and not panel.lines and not summary.measures(line.cell, metric):
        return None  # a control was looked at once: it has no fall from its best
    agent = ALL_AGENTS if panel.agent is None else panel.agent
    rows = summary.curve(line.cell, metric, agent)
    if panel.until is not None:
        rows = rows[rows["at"] <= panel.until]
    settings = summary.facts["cells"][line.cell]["settings"]
    data = rows[["cell", "metric", *KEPT]].astype({"cell": str, "metric": str})
    if options.band is not None:
        reach = options.band * data["se"]
        least, most = possible(metric, settings["family"])
        data["low"] = (data["mean"] - reach).clip(least, most)
        data["high"] = (data["mean"] + reach).clip(least, most)
    if line.ceiling:
        data = data.tail(1)
    algorithm = settings["algorithm"]
    label = filled(line.label, algorithm) if line.label else context.label(experiment, line.cell)
    return Curve(number, label, algorithm["name"], data.assign(line=label), line.ceiling)


def reason(context: Context, options: CurvePanels, panel: CurvePanel) -> str:
    """Why a panel has no line."""
    named = [line.experiment or panel.experiment for line in panel.lines or options.lines]
    found = (why for experiment, why in context.absent.items() if experiment in named)
    return "; ".join(dict.fromkeys(found))


def dress(axis: Axes, panel: CurvePanel, options: CurvePanels) -> None:
    """Title, names and ends of the axes."""
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x or options.x)
    axis.set_ylabel(panel.y or options.y)
    axis.margins(x=0.01)
    if panel.mark is not None:
        axis.axhline(panel.mark, **MARK)
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    if panel.until is not None:
        ends = axis.get_xlim()[1] if options.intervals == "end" else 0  # stand behind the lines
        axis.set_xlim(0, max(panel.until, ends))
    axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
