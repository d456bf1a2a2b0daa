"""PFedTD-Rep's error over rounds and over agents, under each choice of step sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import FAINT, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary, numbered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# what a line's looks say; powers of the rates alpha_t and beta_t, in sixths
COLOURS = {(5, 6): ("powers as in the proof", "#0072B2"), (5, 5): ("powers as printed", "#D55E00"),
           (0, 0): ("constant rates", "#009E73")}  # fmt: skip
MARKERS = {(False, False): ("equal for every N", "o"),
           (True, True): ("both rates shrink with N (proof)", "^"),
           (False, True): ("one rate shrinks with N (as printed)", "v")}  # fmt: skip
LINES = {False: ("first rates of ours", "-"), True: ("the theorem's first rates", (0, (4, 1.5)))}
RATE = -2 / 3


class Options(BaseOptions):
    """The lines of the figure."""

    theorem: list[str] = Field(description="variants with first rates as small as the theorem's")

    def named(self) -> Iterator[Named]:
        for variant in self.theorem:
            yield Named("theorem", variant=variant)


def draw(context: Context) -> Drawing:
    import pandas as pd

    (summary,) = context.summaries.values()
    given = {cell: look(facts["settings"]["algorithm"], cell in context.options(Options).theorem)
             for cell, facts in summary.facts["cells"].items()}  # fmt: skip
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
        _draw(axis, rows, given)
    figure.legend(*legend_entries(), loc="outside lower center", ncols=3)
    panel_labels(list(axes.flat))
    return Drawing(figure, data)


def _points(summary: Summary, along: str, prefix: str) -> pd.DataFrame:
    """Statistics of the metrics whose names are the prefix and a number."""
    rows = numbered(summary.statistics, prefix).rename(columns={"number": "x"}).assign(along=along)
    kept = ["along", "cell", "x", "median", "mean", "low", "high", "seeds"]
    return rows[kept].astype({"cell": str}).sort_values(["cell", "x"])


def look(settings: dict[str, Any], theorem: bool) -> dict[str, Any]:
    """Colour, marker and line by what a variant's rates are."""
    powers = round(6 * settings["alpha_power"]), round(6 * settings["beta_power"])
    shrinks = settings.get("alpha_shrink", 0) > 0, settings.get("beta_shrink", 0) > 0
    return {"color": COLOURS[powers][1], "marker": MARKERS[shrinks][1], "ls": LINES[theorem][1],
            "mfc": "white" if theorem else COLOURS[powers][1]}  # fmt: skip


def legend_entries() -> tuple[list[Line2D], list[str]]:
    """A column each for colours, markers, and lines; not one of every combination."""
    from matplotlib.lines import Line2D

    found: list[tuple[str, dict[str, Any]]]
    found = [(words, {"color": colour}) for words, colour in COLOURS.values()]
    found += [(words, {"color": FAINT, "marker": m, "ls": ""}) for words, m in MARKERS.values()]
    found += [
        (words, {"color": FAINT, "ls": line, "marker": "o", "mfc": mfc})
        for (words, line), mfc in zip(LINES.values(), (FAINT, "white"), strict=True)
    ]
    found.append(("slope −2/3", {"color": FAINT, "ls": ":", "lw": 1.0}))
    return [Line2D([], [], **how) for _, how in found], [words for words, _ in found]


def _draw(axis: Axes, data: pd.DataFrame, given: dict[str, dict[str, Any]]) -> None:
    """Medians over seeds: a mean would show the one seed that converges last."""
    for cell, drawn in given.items():
        rows = data[data["cell"] == cell]
        axis.plot(rows["x"], rows["median"], lw=1.0, markersize=3.5, **drawn)
    x = np.array(sorted(data["x"].unique()))
    top = data.loc[data["x"] == x[0], "median"].median()
    axis.plot(x, top * (x / x[0]) ** RATE, color=FAINT, ls=":", lw=1.0)
    axis.set_xscale("log")
    shown = x if len(x) <= 6 else x[::2]
    axis.set_xticks(shown, [f"{value:,.0f}" for value in shown])
    axis.xaxis.minorticks_off()
    axis.set_yscale("log")
    axis.set_ylabel("squared error (median)")
