"""FedKL's second experiment seen from above, and its traffic in time and space (ours)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import label_of, new_figure, panel_labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

METRICS = ("lap_position", "speed", "x", "y")


class Options(BaseOptions):
    """Traffic in time and space."""

    cells: list[str]
    second: float = Field(ge=0, description="time of the view from above")

    def named(self) -> Iterator[Named]:
        for cell in self.cells:
            yield Named("cells", cell=cell)


def draw(context: Context) -> Drawing:
    import pandas as pd

    from pfedrl.envs.views.traffic import draw_road, draw_vehicles

    (summary,) = context.summaries.values()
    options = context.options(Options)
    cells = options.cells
    frames = {cell: _trace(summary.statistics, cell) for cell in cells}
    second = min(options.second, frames[cells[-1]]["second"].max())
    figure, axes = new_figure(2.6, ncols=1 + len(cells), width_ratios=[1.2, *[1.6] * len(cells)])
    family = summary.family(cells[-1])
    draw_road(axes[0], family["radius"])
    above = frames[cells[-1]].query("second == @second")
    placement = family["placement"]
    draw_vehicles(axes[0], above[["x", "y"]].to_numpy(), above["speed"].to_numpy(), placement)
    axes[0].set_title(f"After {second:g} s", loc="left")
    for axis, cell in zip(axes[1:], cells, strict=True):
        ways = _time_space(axis, frames[cell])
        algorithm = summary.algorithm(cell)["name"]
        axis.set_title(label_of(algorithm), loc="left")
    axes[1].set_ylabel("position on the lap (m)")
    figure.colorbar(ways, ax=axes[-1], label="speed (m/s)")
    panel_labels(list(axes))
    data = pd.concat([frame.assign(cell=cell) for cell, frame in frames.items()])
    return Drawing(figure, data.reset_index(drop=True))


def _trace(statistics: pd.DataFrame, cell: str) -> pd.DataFrame:
    """One row a second and vehicle. The experiment has one seed, so its mean is that episode."""
    own = statistics[
        (statistics["cell"] == cell) & (statistics["axis"] == "second") & (statistics["agent"] >= 0)
    ]
    wide = own.pivot_table(index=["at", "agent"], columns="metric", values="mean", observed=True)
    wide = wide[list(METRICS)].reset_index()
    return wide.rename(columns={"at": "second", "agent": "vehicle"}).rename_axis(columns=None)


def _time_space(axis: Axes, trace: pd.DataFrame) -> LineCollection:
    """Every vehicle's way, coloured by its speed; a way ends where a lap does."""
    from matplotlib.collections import LineCollection

    from pfedrl.envs.views.traffic import FASTEST

    segments, speeds = [], []
    for _, way in trace.groupby("vehicle"):
        points = way[["second", "lap_position"]].to_numpy()
        pairs = np.stack([points[:-1], points[1:]], axis=1)
        onward = points[1:, 1] >= points[:-1, 1]
        segments.append(pairs[onward])
        speeds.append(way["speed"].to_numpy()[:-1][onward])
    lines = LineCollection(
        list(np.concatenate(segments)), array=np.concatenate(speeds), cmap="viridis",
        clim=(0, FASTEST), linewidths=0.6,
    )  # fmt: skip
    axis.add_collection(lines)
    axis.autoscale()
    axis.set_xlabel("time (s)")
    return lines
