"""PFedRL-Rep, Figures 14 and 15: cosine similarities between agents, as heat maps.

Options: `variant`, and `printed`, what arXiv v1 prints in its maps: name to rows, agent 1 first.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import INK, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary

TITLES = {"transition": "transitions", "head": "private heads", "body": "representation"}


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.artifact.options
    printed = {name: np.array(rows) for name, rows in options.get("printed", {}).items()}
    figure, grid = new_figure(5.0 if printed else 2.6, nrows=1 + bool(printed), ncols=3,
                              squeeze=False)  # fmt: skip
    frames, shown = [], []
    for column, (name, title) in enumerate(TITLES.items()):
        ours = matrix(summary, options["variant"], name)
        picture = heat_map(grid[0, column], ours, f"Ours: {title}")
        frames.append(long_form(ours, "ours", name))
        shown.append(grid[0, column])
        if name in printed:
            heat_map(grid[1, column], printed[name], f"arXiv v1: {title}")
            frames.append(long_form(printed[name], "arxiv_v1", name))
            shown.append(grid[1, column])
        elif printed:
            grid[1, column].set_axis_off()
    figure.colorbar(picture, ax=grid.ravel().tolist(), shrink=0.6, label="cosine")
    panel_labels(shown)
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def matrix(summary: Summary, variant: str, name: str) -> np.ndarray:
    """The cosines [agent, agent], the mean over seeds."""
    rows = summary.statistics
    rows = rows[(rows["cell"] == summary.cell_at(variant)) & (rows["agent"] >= 0)]
    found = []
    for other in range(int(rows["agent"].max()) + 1):
        own = rows[rows["metric"] == f"{name}_similarity_{other}"].sort_values("agent")
        found.append(own["mean"].to_numpy())
    return np.stack(found, axis=1)


def heat_map(axis: Axes, values: np.ndarray, title: str) -> AxesImage:
    """One map, agent 1 at the bottom left as in the paper."""
    picture = axis.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, origin="lower")
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            colour = "white" if abs(value) > 0.7 else INK
            axis.text(j, i, f"{value:z.1f}", ha="center", va="center", fontsize=4, color=colour)
    axis.set_title(title, loc="left")
    axis.set_xticks(range(len(values)), [str(i + 1) for i in range(len(values))])
    axis.set_yticks(range(len(values)), [str(i + 1) for i in range(len(values))])
    axis.grid(False)
    axis.set_xlabel("agent")
    return picture


def long_form(values: np.ndarray, source: str, name: str) -> pd.DataFrame:
    first, second = np.indices(values.shape)
    return pd.DataFrame({
        "source": source, "of": name, "agent": first.ravel() + 1, "other": second.ravel() + 1,
        "cosine": values.ravel(),
    })  # fmt: skip
