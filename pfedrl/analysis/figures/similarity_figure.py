"""PFedRL-Rep, Figures 14 and 15, DePRL, Figure 3: cosines between agents, as heat maps."""

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import new_figure, panel_labels
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.drawings import SimilarityMaps

ANNOTATED = 12  # agents at most whose cosines can be read as numbers


def draw(context: Context) -> Drawing:
    options = context.options(SimilarityMaps)
    printed = {str(name): np.array(rows) for name, rows in options.printed.items()}
    rows = len(context.summaries) + bool(printed)
    figure, grid = new_figure(2.4 * rows + 0.2, nrows=rows, ncols=3, squeeze=False)
    frames = []
    for column, (name, title) in enumerate(options.maps.items()):
        for row, (experiment, summary) in enumerate(context.summaries.items()):
            ours = matrix(summary, options, name)
            of = "Ours" if printed else context.short_title(experiment)
            heat_map(grid[row, column], ours, f"{of}: {title}", options.who)
            frames.append(long_form(ours, "ours" if printed else experiment, name))
        if name in printed:
            heat_map(grid[-1, column], printed[name], f"arXiv v1: {title}", options.who)
            frames.append(long_form(printed[name], "arxiv_v1", name))
        elif printed:
            grid[-1, column].set_axis_off()
    maps = grid[0, 0].collections[0]
    for axis in grid[:, 0]:
        axis.set_ylabel(options.who)
    figure.colorbar(maps, ax=grid.ravel().tolist(), shrink=0.6, label="cosine")
    panel_labels([axis for axis in grid.flat if axis.axison])
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def matrix(summary: Summary, options: SimilarityMaps, name: str) -> np.ndarray:
    """The cosines [agent, agent], the mean over seeds."""
    cell = summary.cell_at(options.variant, **options.point)
    rows = summary.statistics
    rows = rows[(rows["cell"] == cell) & (rows["agent"] >= 0)]
    rows = rows[rows["metric"].str.startswith(f"{name}_similarity_")]
    found = []
    for other in range(int(rows["agent"].max()) + 1):
        own = rows[rows["metric"] == f"{name}_similarity_{other}"].sort_values("agent")
        found.append(own["mean"].to_numpy())
    return np.stack(found, axis=1)


def heat_map(axis: Axes, values: np.ndarray, title: str, who: str) -> None:
    """One map, agent 1 at the bottom left as in the paper; its least where no number is in it."""
    agents = range(1, len(values) + 1)
    few = len(agents) <= ANNOTATED
    every = 1 if few else len(agents) // 4
    seaborn.heatmap(
        pd.DataFrame(values, agents, agents), cmap="RdBu_r", vmin=-1, vmax=1, square=True,
        annot=few, fmt="z.1f", annot_kws={"fontsize": 4}, cbar=False, xticklabels=every,
        yticklabels=every, ax=axis,
    )  # fmt: skip
    axis.invert_yaxis()
    axis.tick_params(axis="y", rotation=0)
    axis.set_title(title, loc="left")
    axis.set_xlabel(who if few else f"{who} (least cosine {values.min():.3f})".replace("-", "−"))


def long_form(values: np.ndarray, source: str, name: str) -> pd.DataFrame:
    first, second = np.indices(values.shape)
    return pd.DataFrame({
        "source": source, "of": name, "agent": first.ravel() + 1, "other": second.ravel() + 1,
        "cosine": values.ravel(),
    })  # fmt: skip
