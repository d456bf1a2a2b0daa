"""Final values of several algorithms along a sweep: DePRL, Figures 4, 8 and 9, PFedRL-Rep, 13."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import effect, exponents, geometric_mean, mean_interval
from pfedrl.analysis.style import FAINT, note_absent, panel_grid, panel_labels
from pfedrl.core.metrics import possible
from pfedrl.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = 2
PANEL_HEIGHT, LEGEND_HEIGHT = 2.1, 0.35  # inches
APART = 0.012  # of the axis, between the lines' marks: no interval covers another


class SweepPanel(Settings):
    """A panel: a metric of an experiment's variants along its sweep."""

    title: str
    experiment: str
    metric: str
    y: str


class Options(BaseOptions):
    """Final values along a sweep."""

    panels: list[SweepPanel] = Field(min_length=1)
    variants: list[str] = Field(
        default_factory=list, description="default: every variant that the sweep changes"
    )
    along: str
    logarithmic: bool = Field(False, description="logarithmic vertical axis, with geometric means")
    x: str
    shows: Literal["values", "speedups"] = Field(
        "values", description="speedups: how many times lower than at the sweep's first point"
    )

    def named(self) -> Iterator[Named]:
        for number, panel in enumerate(self.panels):
            yield Named(f"panels.{number}", panel.experiment, metric=panel.metric)
            for variant in self.variants:
                yield Named(f"panels.{number}", panel.experiment, variant=variant)


def draw(context: Context) -> Drawing:
    import pandas as pd

    options = context.options(Options)
    run = [panel for panel in options.panels if panel.experiment not in context.absent]
    figure, axes = panel_grid(len(run), COLUMNS, PANEL_HEIGHT, LEGEND_HEIGHT)
    frames = [lines(context, panel, options) for panel in run]
    for axis, panel, data in zip(axes, run, frames, strict=True):
        draw_panel(context, axis, panel, options, data)
    panel_labels(axes)
    note_absent(figure, context.absent)
    drawn, labels = axes[0].get_legend_handles_labels()
    figure.legend(drawn, labels, loc="outside lower center", ncols=len(labels))
    data = pd.concat(frames, ignore_index=True)
    if options.logarithmic or options.shows == "speedups":
        data = data.rename(columns={"mean": "geometric_mean"})
    return Drawing(figure, data)


def lines(context: Context, panel: SweepPanel, options: Options) -> pd.DataFrame:
    """Means with 95% intervals over seeds, one row for each variant and point.

    On a logarithmic axis means are geometric. Speedups and exponents are computed by seed.
    """
    import pandas as pd

    summary, found = context.summaries[panel.experiment], []
    for variant in options.variants or dict.fromkeys(summary.statistics["variant"]):
        cells = summary.points_along(variant, options.along)
        if len(cells) < 2:  # a control that the sweep does not touch
            continue
        points = np.array(list(cells), float)
        values = np.stack([summary.final(cell, panel.metric) for cell in cells.values()])
        values = values[:, np.isfinite(values).all(axis=0)]
        grows: dict[str, float] = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            if options.shows == "speedups":
                mean, low, high = geometric_mean(values[:1] / values)
                exponent = effect(-exponents(points, values))
                grows = {"exponent": exponent.mean, "exponent_low": exponent.low,
                         "exponent_high": exponent.high}  # fmt: skip
            elif options.logarithmic:
                mean, low, high = geometric_mean(values)
            else:
                mean = values.mean(axis=1)
                low, high = mean_interval(values, possible(panel.metric, None))
        frame = pd.DataFrame({"mean": mean, "low": low, "high": high, **grows})
        first = next(iter(cells.values()))
        algorithm = str(summary.last(first, panel.metric)["algorithm"])
        label = context.label(panel.experiment, first)
        frame = frame.assign(panel=panel.title, variant=variant, label=label, at=points)
        frame["algorithm"] = algorithm
        found.append(frame.assign(metric=panel.metric, seeds=values.shape[1]))
    return pd.concat(found, ignore_index=True)


def draw_panel(
    context: Context, axis: Axes, panel: SweepPanel, options: Options, data: pd.DataFrame
) -> None:
    texts = []
    points = sorted(data["at"].unique())
    doubled = points[0] > 0 and points[-1] / points[0] > len(points)  # rather than counted
    if doubled:
        axis.set_xscale("log", base=2)
    lines = list(data.groupby("variant", sort=False))
    for place, (_, own) in enumerate(lines):
        label, style = own["label"].iloc[0], context.styles.of(own["algorithm"].iloc[0])
        bars = [own["mean"] - own["low"], own["high"] - own["mean"]]
        share = APART * (place - (len(lines) - 1) / 2)
        axis.errorbar(
            aside(own["at"], points, share, doubled), own["mean"], np.abs(bars), label=label,
            color=style.colour, ls=style.line, marker=style.marker, capsize=2,
        )  # fmt: skip
        if "exponent" in own:
            grows = own.iloc[0]
            texts.append(
                f"{label}: $N^{{{grows['exponent']:.2f}}}$, {grows['exponent_low']:.2f} to "
                f"{grows['exponent_high']:.2f}"
            )
    if options.shows == "speedups":
        axis.plot(points, np.array(points) / points[0], color=FAINT, ls=":", label="linear")
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter("{x:g}")
        axis.text(0.03, 0.97, "\n".join(texts), transform=axis.transAxes, va="top", fontsize=6)
    if options.logarithmic:
        axis.set_yscale("log")
    axis.set_xticks(points, [f"{point:.6g}" for point in points])
    axis.minorticks_off()
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(options.x)
    axis.set_ylabel(panel.y)


def aside(at: pd.Series, points: list[float], share: float, doubled: bool) -> pd.Series:
    """Places on the axis, moved by a share of what the sweep spans."""
    if doubled:
        return at * (points[-1] / points[0]) ** share
    return at + share * (points[-1] - points[0])
