"""PFedRL-Rep, Figures 14 and 15: cosine similarities between agents, as heat maps."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import new_figure, panel_labels
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.drawings import SimilarityMaps

TITLES = {"transition": "transitions", "head": "private heads", "body": "representation"}


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.options(SimilarityMaps)
    printed = {str(name): np.array(rows) for name, rows in options.printed.items()}
    figure, grid = new_figure(5.0 if printed else 2.6, nrows=1 + bool(printed), ncols=3,
                              squeeze=False)  # fmt: skip
    frames, shown = [], []
    for column, (name, title) in enumerate(TITLES.items()):
        ours = matrix(summary, options.variant, name)
        heat_map(grid[0, column], ours, f"Ours: {title}")
        frames.append(long_form(ours, "ours", name))
        shown.append(grid[0, column])
        if name in printed:
            heat_map(grid[1, column], printed[name], f"arXiv v1: {title}")
            frames.append(long_form(printed[name], "arxiv_v1", name))
            shown.append(grid[1, column])
        elif printed:
            grid[1, column].set_axis_off()
    maps = grid[0, 0].collections[0]
    figure.colorbar(maps, ax=grid.ravel().tolist(), shrink=0.6, label="cosine")
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


def heat_map(axis: Axes, values: np.ndarray, title: str) -> None:
    """One map, agent 1 at the bottom left as in the paper."""
    agents = range(1, len(values) + 1)
    seaborn.heatmap(
        pd.DataFrame(values, agents, agents), cmap="RdBu_r", vmin=-1, vmax=1, square=True,
        annot=True, fmt="z.1f", annot_kws={"fontsize": 4}, cbar=False, xticklabels=1,
        yticklabels=1, ax=axis,
    )  # fmt: skip
    axis.invert_yaxis()
    axis.tick_params(axis="y", rotation=0)
    axis.set_title(title, loc="left")
    axis.set_xlabel("agent")


def long_form(values: np.ndarray, source: str, name: str) -> pd.DataFrame:
    first, second = np.indices(values.shape)
    return pd.DataFrame({
        "source": source, "of": name, "agent": first.ravel() + 1, "other": second.ravel() + 1,
        "cosine": values.ravel(),
    })  # fmt: skip
