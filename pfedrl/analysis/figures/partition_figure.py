"""Who has how many samples of which class, at each pi: what Dirichlet(pi) makes of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import new_figure, panel_labels
from pfedrl.analysis.summaries import Summary, numbered

if TYPE_CHECKING:
    import pandas as pd

VARIANT, METRIC = "majority_class", "samples_of_class_"
ALONG = "pi"


def draw(context: Context) -> Drawing:
    """A row of maps for each data set, of the first seed: a mean over seeds would blur them."""
    import pandas as pd
    import seaborn

    points = {name: summary.points_along(VARIANT, ALONG) for name, summary in
              context.summaries.items()}  # fmt: skip
    rows, columns = len(points), max(map(len, points.values()))
    figure, grid = new_figure(1.8 * rows + 0.3, nrows=rows, ncols=columns, squeeze=False)
    frames = []
    for line, (name, cells) in zip(grid, points.items(), strict=True):
        found = {pi: counts(context.summaries[name], cell) for pi, cell in cells.items()}
        most = max(int(samples.max()) for samples in found.values())
        for axis, (pi, samples) in zip(line, found.items(), strict=False):
            workers, classes = samples.shape
            seaborn.heatmap(
                pd.DataFrame(samples, range(1, workers + 1)).T, cmap="mako_r", vmin=0, vmax=most,
                ax=axis, cbar=axis is line[-1], cbar_kws={"label": "samples"},
                xticklabels=max(1, workers // 4), yticklabels=max(1, classes // 5),
            )  # fmt: skip
            smallest = int(samples.sum(axis=1).min())
            axis.set_title(f"{context.short_title(name)}, π = {pi:g}", loc="left")
            axis.set_xlabel(f"worker (the smallest has {smallest:,} samples)")
            axis.set_ylabel("class")
            axis.tick_params(axis="y", rotation=0)
            frames.append(long_form(samples, name, pi))
    panel_labels(list(grid.flat))
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def counts(summary: Summary, cell: str) -> np.ndarray:
    """[worker, class] of the first seed."""
    rows = summary.finals
    rows = rows[(rows["cell"] == cell) & (rows["seed"] == summary.seeds.start)]
    rows = numbered(rows[rows["agent"] >= 0], METRIC)
    return rows.pivot(index="agent", columns="number", values="value").to_numpy()


def long_form(samples: np.ndarray, experiment: str, pi: float) -> pd.DataFrame:
    import pandas as pd

    worker, label = np.indices(samples.shape)
    return pd.DataFrame({
        "experiment": experiment, "pi": pi, "worker": worker.ravel() + 1, "class": label.ravel(),
        "samples": samples.ravel().astype(int),
    })  # fmt: skip
