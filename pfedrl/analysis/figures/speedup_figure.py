"""PFedRL-Rep, Figure 11: how training time falls with the number of agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.curves import shades
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import Effect, effect, exponents, geometric_mean, mean_interval
from pfedrl.analysis.style import FAINT, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary
from pfedrl.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Mark(Settings):
    """A level of performance."""

    metric: str = Field(description="episodes until the level is reached")
    reached: str = Field(description="a metric that is 0 if the level was never reached")
    label: str


class Options(BaseOptions):
    """Training time over the number of agents."""

    variant: str
    along: str = Field(description="the sweep's key: the number of agents")
    marks: list[Mark] = Field(min_length=1, max_length=2)

    def named(self) -> Iterator[Named]:
        yield Named("variant", variant=self.variant)
        for number, mark in enumerate(self.marks):
            for metric in (mark.metric, mark.reached):
                yield Named(f"marks.{number}", metric=metric)


def draw(context: Context) -> Drawing:
    import pandas as pd

    (summary,) = context.summaries.values()
    options = context.options(Options)
    variant, along = options.variant, options.along
    light, _, dark = shades(context.styles.of(variant), 3)
    figure, (left, right) = new_figure(2.8, ncols=2)
    frames = []
    for mark, shade, marker in zip(options.marks, (dark, light), "os", strict=False):
        data, grows = speedups(summary, variant, mark, along)
        look = {"color": shade.colour, "ls": "-", "marker": marker}
        never = f"{data['never'].sum()} of {data['seeds'].sum()} runs never reached it"
        points(left, data, ("mean", "low", "high"), f"{mark.label} ({never})", look)
        if data["never"].any():  # it would be that of the episodes at which runs end
            grows = Effect(np.nan, np.nan, np.nan, 0)
            right.plot([], [], label=f"{mark.label}: not drawn, {never}", **look)
        else:
            label = f"$N^{{{grows.mean:.2f}}}$ (exponent {grows.low:.2f} to {grows.high:.2f})"
            names = ("speedup", "speedup_low", "speedup_high")
            label = label.replace(" -", " −")
            points(right, data, names, f"{mark.label}: {label}", look)
        frames.append(data.assign(
            metric=mark.metric, slope=grows.mean, slope_low=grows.low, slope_high=grows.high
        ))  # fmt: skip
    agents = data["agents"]
    right.plot(agents, agents / agents.iloc[0], color=FAINT, ls=":", label="linear: the paper")
    ends = max(float(summary.last(c, mark.metric)["at"]) for c in summary.cells(variant))
    left.axhline(ends, color=FAINT, ls="--", lw=0.9, label=f"end of training, {ends:g} episodes")
    left.set_title("Episodes of training", loc="left")
    left.set_ylabel("episodes (mean, 95% CI)")
    left.set_ylim(bottom=0)
    right.set_title(f"Speedup against N = {agents.iloc[0]:g}", loc="left")
    right.set_ylabel("speedup (95% CI)")
    right.set_ylim(0, 1.4 * agents.iloc[-1] / agents.iloc[0])  # room for the legend
    for axis in (left, right):
        axis.set_xlabel("agents N")
        axis.set_xticks(agents)
        axis.set_xlim(agents.iloc[0] - 0.5, agents.iloc[-1] + 0.7)
    left.set_ylim(0, 1.45 * left.get_ylim()[1])  # room for the legend
    left.legend(loc="upper left")
    right.legend(loc="upper left")
    panel_labels([left, right])
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def points(
    axis: Axes, data: pd.DataFrame, names: tuple[str, str, str], label: str, look: dict[str, Any]
) -> None:
    """Values with their intervals. Where some runs never reached the mark the mean is a lower
    bound: hollow, with an arrow for the interval's open end and the count of those runs."""
    mean, low, high = (data[name] for name in names)
    never = data["never"] > 0
    bars = np.stack([mean - low, np.where(never, 0.0, high - mean)])
    axis.errorbar(data["agents"], mean, bars, label=label, capsize=2, **look)
    hollow = look | {"ls": "", "mfc": "white", "zorder": 3}
    axis.errorbar(
        data["agents"][never], mean[never], 4, lolims=True, capsize=2, **hollow
    )  # fmt: skip
    for row, place in zip(data[never].itertuples(), mean[never], strict=True):
        axis.annotate(f"{row.never}/{row.seeds}", (row.agents, place), (4, 5), fontsize=6,
                      textcoords="offset points", color=look["color"])  # fmt: skip


def speedups(summary: Summary, variant: str, mark: Mark, along: str) -> tuple[pd.DataFrame, Effect]:
    """Times and speedups with 95% intervals, how many seeds never reached the mark, and the
    exponent of N in the speedup.

    Seeds are the unit of replication: each has its ratios, averaged on a logarithmic scale, and
    its exponent.
    """
    import pandas as pd

    cells = summary.points_along(variant, along)
    agents = np.array(list(cells))
    times = np.stack([summary.final(cell, mark.metric) for cell in cells.values()])  # [N, seed]
    times = times[:, np.isfinite(times).all(axis=0)]
    ends = max(float(summary.last(cell, mark.metric)["at"]) for cell in cells.values())
    low, high = mean_interval(times, (0.0, ends))
    faster, faster_low, faster_high = geometric_mean(times[0] / times)
    frame = pd.DataFrame({
        "agents": agents, "mean": times.mean(axis=1), "low": low, "high": high,
        "speedup": faster, "speedup_low": faster_low, "speedup_high": faster_high,
        "seeds": times.shape[1],
        "never": [int((summary.final(cell, mark.reached) == 0).sum()) for cell in cells.values()],
    })  # fmt: skip
    return frame, effect(-exponents(agents, times))
