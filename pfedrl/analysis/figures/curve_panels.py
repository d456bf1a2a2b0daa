"""Learning curves in panels: for each line a cell and a metric of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from pfedrl.analysis.curves import Look, draw_curves, handles, looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.labels import filled
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import CEILING, FAINT, leave_empty, panel_grid, panel_labels
from pfedrl.core.metrics import possible
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

KEPT = ["at", "mean", "se", "median", "low", "high", "seeds", "missing", "diverged"]
LEGEND_COLUMNS = 5
MARK: dict[str, Any] = {"color": FAINT, "ls": "--", "lw": 0.9}
PANEL_HEIGHT, LEGEND_HEIGHT = 1.75, 0.35  # inches


class CurveLine(Settings):
    """A line of a panel. Several lines of one algorithm are shades of its colour."""

    cell: str
    metric: str | None = Field(None, description="default: the panel's")
    experiment: str | None = Field(None, description="default: the panel's")
    label: str | None = Field(
        None, description="default: the variant's; {local_steps} is replaced by that setting"
    )
    ceiling: bool = Field(False, description="draw its last value as a level across the panel")


class CurvePanel(Settings):
    """A panel of learning curves."""

    title: str
    experiment: str | None = Field(None, description="default: the artifact's first")
    metric: str | None = Field(None, description="for lines without a metric")
    lines: list[CurveLine] = Field(default_factory=list, description="default: the figure's")
    agent: int | None = Field(None, ge=0, description="default: the mean over agents")
    until: float | None = Field(None, gt=0, description="end of the horizontal axis")
    limits: tuple[float, float] | None = Field(None, description="ends of the vertical axis")
    mark: float | None = Field(None, description="draw a dashed level here")
    x: str | None = Field(None, description="axis label; default: the figure's")
    y: str | None = None


class Options(BaseOptions):
    """Learning curves in panels."""

    panels: list[CurvePanel] = Field(min_length=1)
    lines: list[CurveLine] = Field(
        default_factory=list,
        description="for panels without lines; a cell without the panel's metric is left out there",
    )
    columns: int = Field(2, gt=0)
    band: float | None = Field(
        None, gt=0, description="shade so many standard errors; default: the interval"
    )
    intervals: Literal["along", "end"] = Field(
        "along", description="bands along the lines or, where they would cover each other, bars "
        "at the lines' ends"
    )  # fmt: skip
    legend: Literal["figure", "panel"] = "figure"
    x: str = "episode"
    y: str = "return"

    @model_validator(mode="after")
    def every_line_has_a_metric(self) -> Options:
        for number, panel in enumerate(self.panels):
            for line in panel.lines or self.lines:
                if panel.metric is None and line.metric is None:
                    raise ValueError(f"panels.{number}: '{line.cell}' has no metric")
            if not (panel.lines or self.lines):
                raise ValueError(f"panels.{number} has no lines")
        return self

    def named(self) -> Iterator[Named]:
        for number, panel in enumerate(self.panels):
            key = f"panels.{number}"
            for line in panel.lines or self.lines:
                experiment = line.experiment or panel.experiment
                strict = line.metric or (panel.metric if panel.lines else None)
                yield Named(key, experiment, cell=line.cell, metric=strict)
            if not panel.lines:  # of the figure's lines some may lack the metric, but not all
                yield Named(key, self.lines[0].experiment or panel.experiment, metric=panel.metric)


@dataclass(frozen=True)
class Curve:
    """A line of a panel, found in its experiment's summary."""

    panel: int
    label: str
    algorithm: str
    data: pd.DataFrame
    ceiling: bool = False


def draw(context: Context) -> Drawing:
    import pandas as pd
    from matplotlib.lines import Line2D

    options = context.options(Options)
    panels = options.panels
    curves = [
        curve
        for number, panel in enumerate(panels)
        for line in panel.lines or options.lines
        if (curve := find(context, options, number, panel, line)) is not None
    ]
    heights = (PANEL_HEIGHT, LEGEND_HEIGHT)  # of a row, and of the legend below them all
    if options.legend == "panel":
        heights = (PANEL_HEIGHT + LEGEND_HEIGHT, 0.0)
    figure, axes = panel_grid(len(panels), options.columns, *heights)
    shared = styled(context, curves)
    for number, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        own = [curve for curve in curves if curve.panel == number]
        if all(curve.ceiling for curve in own):
            leave_empty(axis, panel.title, reason(context, options, panel))
            continue
        given = shared if options.legend == "figure" else styled(context, own)
        draw_curves(axis, pd.concat([curve.data for curve in own]), given, options.intervals)
        dress(axis, panel, options)
        if options.legend == "panel":
            axis.legend(
                handles(given), given, loc="upper center", bbox_to_anchor=(0.5, -0.28), fontsize=6,
                ncols=min(3, len(given)), columnspacing=0.8, handlelength=1.6,
            )  # fmt: skip
    panel_labels(axes)
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
    context: Context, options: Options, number: int, panel: CurvePanel, line: CurveLine
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


def reason(context: Context, options: Options, panel: CurvePanel) -> str:
    """Why a panel has no line: the reasons of its missing experiments."""
    named = [line.experiment or panel.experiment for line in panel.lines or options.lines]
    found = (why for experiment, why in context.absent.items() if experiment in named)
    return "; ".join(dict.fromkeys(found))


def dress(axis: Axes, panel: CurvePanel, options: Options) -> None:
    """Title, names and ends of the axes."""
    from matplotlib.ticker import MaxNLocator

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
