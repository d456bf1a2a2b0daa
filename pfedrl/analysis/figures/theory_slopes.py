"""PFedTD-Rep's error over rounds and over agents, under each choice of step sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import FAINT, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "D"), ("#56B4E9", "^"), ("#000000", "v"),
         ("#999999", "P"), ("#CC79A7", "X"), ("#E69F00", "*"))  # fmt: skip
RATE = -2 / 3


class Options(BaseOptions):
    """The lines of the figure."""

    labels: dict[str, str] = Field(description="a variant to its label; others are not drawn")

    def named(self) -> Iterator[Named]:
        for variant in self.labels:
            yield Named("labels", variant=variant)


def draw(context: Context) -> Drawing:
    import pandas as pd

    (summary,) = context.summaries.values()
    labels = context.options(Options).labels
    data = pd.concat([
        _points(summary, "rounds", "error_t_"),
        _points(summary, "agents", "error_n_"),
        _points(summary, "agents, features' part", "features_error_n_"),
        _points(summary, "agents, weights' part", "weights_error_n_"),
    ])  # fmt: skip
    figure, axes = new_figure(4.8, nrows=2, ncols=2)
    titles = ("M over rounds, most agents", "M over agents", "Features' part of M over agents",
              "Weights' part of M over agents")  # fmt: skip
    for axis, (along, rows), title in zip(
        axes.flat, data.groupby("along", sort=False), titles, strict=True
    ):
        axis.set_title(title, loc="left")
        axis.set_xlabel("round t" if along == "rounds" else "agents N")
        _draw(axis, rows, labels)
    handles, words = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside lower center", ncols=3)
    panel_labels(list(axes.flat))
    return Drawing(figure, data)


def _points(summary: Summary, along: str, prefix: str) -> pd.DataFrame:
    """Statistics of the metrics whose names are the prefix and a number."""
    names = summary.statistics["metric"].astype(str)
    rows = summary.statistics[names.str.match(f"{prefix}\\d+$")].copy()
    rows["x"] = rows["metric"].astype(str).str.removeprefix(prefix).astype(float)
    rows["along"] = along
    kept = ["along", "cell", "x", "median", "mean", "low", "high", "seeds"]
    return rows[kept].astype({"cell": str}).sort_values(["cell", "x"])


def _draw(axis: Axes, data: pd.DataFrame, labels: dict[str, str]) -> None:
    """Medians over seeds: a mean would show the one seed that converges last."""
    for (cell, words), (colour, marker) in zip(labels.items(), LOOKS, strict=False):
        rows = data[data["cell"] == cell]
        axis.plot(rows["x"], rows["median"], color=colour, marker=marker, label=words,
                  lw=1.0, markersize=3.5)  # fmt: skip
    x = np.array(sorted(data["x"].unique()))
    top = data.loc[data["x"] == x[0], "median"].median()
    axis.plot(x, top * (x / x[0]) ** RATE, color=FAINT, ls="--", lw=1.0, label="slope -2/3")
    axis.set_xscale("log")
    shown = x if len(x) <= 6 else x[::2]
    axis.set_xticks(shown, [f"{value:,.0f}" for value in shown])
    axis.xaxis.minorticks_off()
    axis.set_yscale("log")
    axis.set_ylabel("squared error (median)")
