"""Learning curves in panels: for each line a cell and a metric of an experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from pfedrl.analysis.curves import (
    ENDS,
    Look,
    draw_curves,
    draw_ends,
    handles,
    looks,
    mark_beyond,
    spread_handles,
)
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.labels import filled
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import CEILING, note_absent, panel_grid, panel_labels
from pfedrl.core.metrics import possible
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEPT = ["at", "mean", "se", "median", "low", "high", "seeds", "missing", "diverged"]
LEGEND_COLUMNS, LEGEND_LETTERS = 5, 120  # at most, in a row of the legend
MARK: dict[str, Any] = {"color": "#0072B2", "ls": (0, (6, 2)), "lw": 0.9}
PANEL_HEIGHT, LEGEND_HEIGHT = 1.75, 0.45  # inches


class CurveLine(Settings):
    """A line of a panel. Several lines of one algorithm are shades of its colour."""

    cell: str
    metric: str | None = Field(None, description="default: the panel's")
    experiment: str | None = Field(None, description="default: the panel's")
    label: str | None = Field(
        None, description="default: the variant's; {local_steps} is replaced by that setting"
    )
    legend: str | None = Field(None, description="entry of the legend; default: the label")
    ceiling: bool = Field(False, description="draw its last value as a level across the panel")


class CurvePanel(Settings):
    """A panel of learning curves."""

    title: str
    subtitle: str = Field(
        "", description="after the title; {dqn[local_steps]} is replaced by that cell's setting"
    )
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
    ends: bool = Field(
        False, description="beside each panel the last points with intervals and printed numbers"
    )
    together: bool = Field(False, description="end each time axis where its shortest line ends")
    legend: list[str] = Field(
        default_factory=list, description="its first entries; of shades, the first is the purest"
    )
    mark_label: str = Field("", description="of the dashed level; default: its number")
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
    entry: str  # of the legend
    algorithm: str
    data: pd.DataFrame
    ceiling: bool = False


def draw(context: Context) -> Drawing:
    import pandas as pd

    options = context.options(Options)
    panels = options.panels
    curves = [
        curve
        for number, panel in enumerate(panels)
        for line in panel.lines or options.lines
        if (curve := find(context, options, number, panel, line)) is not None
    ]
    shown = sorted({curve.panel for curve in curves if not curve.ceiling})
    widths = [1.0, ENDS] if options.ends else [1.0]
    columns, size = min(options.columns, len(shown)), len(widths)
    figure, grid = panel_grid(
        size * len(shown),
        size * columns,
        PANEL_HEIGHT,
        LEGEND_HEIGHT,
        width_ratios=widths * columns,
    )
    axes = grid[::size]
    given = styled(context, options, curves)
    for place, (axis, number) in enumerate(zip(axes, shown, strict=True)):
        own = pd.concat([
            curve.data.assign(line=curve.entry) for curve in curves if curve.panel == number
        ])  # fmt: skip
        draw_curves(axis, own, given)
        dress(context, axis, panels[number], options, own)
        mark_beyond(axis, own, given)
        if options.ends:
            draw_ends(grid[size * place + 1], axis, own, given)
    panel_labels(axes)
    missing = [panel for number, panel in enumerate(panels) if number not in shown]
    note_absent(figure, {panel.title: reason(context, options, panel) for panel in missing})
    data = pd.concat(
        [curve.data.assign(panel=panels[curve.panel].title) for curve in curves], ignore_index=True
    )
    band = f"{options.band:g} standard errors" if options.band else "95% interval"
    add_legend(figure, options, given, spread_handles(data, band))
    beside = ["paper"] if data["paper"].notna().any() else []
    return Drawing(figure, data[["panel", "line", "cell", "metric", *KEPT, *beside]])


def add_legend(
    figure: Figure, options: Options, given: dict[str, Look], more: dict[str, Artist]
) -> None:
    """One legend below all panels, in rows as equal as they can be."""
    from matplotlib.lines import Line2D

    entries = dict(zip(given, handles(given), strict=True)) | more
    if marks := [f"{panel.mark:g}" for panel in options.panels if panel.mark is not None]:
        number = " and ".join(dict.fromkeys(marks)).replace("-", "−")
        entries[options.mark_label or number] = Line2D([], [], **MARK)
    letters = max(map(len, entries))
    most = min(LEGEND_COLUMNS, max(1, LEGEND_LETTERS // (letters + 6)))
    rows = -(-len(entries) // most)
    figure.legend(
        entries.values(), entries, loc="outside lower center", ncols=-(-len(entries) // rows)
    )


def styled(context: Context, options: Options, curves: list[Curve]) -> dict[str, Look]:
    """A look for each entry of the legend; a ceiling is a control, whoever reached it."""
    of = {curve.entry: CEILING if curve.ceiling else curve.algorithm for curve in curves}
    order = [*(entry for entry in options.legend if entry in of), *of]
    return looks({entry: context.styles.of(of[entry]) for entry in order})


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
    theirs = context.printed(experiment, line.cell, metric) if panel.agent is None else math.nan
    if panel.until is not None:
        rows = rows[rows["at"] <= panel.until]
    settings = summary.facts["cells"][line.cell]["settings"]
    data = rows[["cell", "metric", *KEPT, "by_seed"]].astype({"cell": str, "metric": str})
    if options.band is not None:
        reach = options.band * data["se"]
        least, most = possible(metric, settings["family"])
        data["low"] = (data["mean"] - reach).clip(least, most)
        data["high"] = (data["mean"] + reach).clip(least, most)
    if line.ceiling:
        data = data.tail(1)
    algorithm = settings["algorithm"]
    label = filled(line.label, algorithm) if line.label else context.label(experiment, line.cell)
    data = data.assign(line=label, paper=theirs)
    return Curve(number, line.legend or label, algorithm["name"], data, line.ceiling)


def reason(context: Context, options: Options, panel: CurvePanel) -> str:
    """Why a panel has no line: the reasons of its missing experiments."""
    named = [line.experiment or panel.experiment for line in panel.lines or options.lines]
    found = (why for experiment, why in context.absent.items() if experiment in named)
    return "; ".join(dict.fromkeys(found))


def dress(
    context: Context, axis: Axes, panel: CurvePanel, options: Options, own: pd.DataFrame
) -> None:
    """Title, names and ends of the axes."""
    from matplotlib.ticker import MaxNLocator

    cells = context.summaries[panel.experiment or next(iter(context.summaries))].facts["cells"]
    settings = {name: facts["settings"]["algorithm"] for name, facts in cells.items()}
    axis.set_title(f"{panel.title}{panel.subtitle.format_map(settings)}", loc="left")
    axis.set_xlabel(panel.x or options.x)
    axis.set_ylabel(panel.y or options.y)
    axis.margins(x=0.01)
    if panel.mark is not None:
        axis.axhline(panel.mark, **MARK)
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    if panel.until is not None:
        axis.set_xlim(0, panel.until)
    if options.together:
        last = own.groupby("line")["at"].agg(["size", "max"])
        axis.set_xlim(0, last.loc[last["size"] > 1, "max"].min())
    axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
