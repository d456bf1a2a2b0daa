"""PFedRL-Rep, Figures 14 and 15, DePRL, Figure 3: cosines between agents, as heat maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import FAINT, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary, numbered

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EQUAL = 0.9995  # cosines above which a map is a sentence
ANNOTATED = 12  # agents at most whose cosines can be read as numbers


class Options(BaseOptions):
    """Cosines between agents, a row of maps for each experiment."""

    variant: str
    who: str = Field("agent", description="the paper's word for an agent")
    point: dict[str, float] = Field(
        default_factory=dict, description="point of the sweep: key to value"
    )
    maps: dict[str, str] = Field(
        default_factory=lambda: {
            "transition": "transitions", "head": "private heads", "body": "representation"
        },
        description="<what> of the metrics <what>_similarity_<agent>, to the map's title",
    )  # fmt: skip
    printed: dict[Literal["transition", "head", "body"], list[list[float]]] = Field(
        default_factory=dict, description="the paper's maps, agent 1 first"
    )

    def named(self) -> Iterator[Named]:
        yield Named("variant", variant=self.variant)


def draw(context: Context) -> Drawing:
    import pandas as pd

    options = context.options(Options)
    printed = {str(name): np.array(rows) for name, rows in options.printed.items()}
    found = {
        (experiment, name): matrix(summary, options, name)
        for name in options.maps
        for experiment, summary in context.summaries.items()
    }
    equal = [
        name
        for name in options.maps
        if all(found[experiment, name].min() > EQUAL for experiment in context.summaries)
    ]
    shown = {name: title for name, title in options.maps.items() if name not in equal}
    rows = len(context.summaries) + bool(printed)
    height = 2.4 if len(shown) > 2 else 3.0
    figure, grid = new_figure(height * rows + 0.3, nrows=rows, ncols=len(shown), squeeze=False)
    frames = []
    for name, title in options.maps.items():
        column = list(shown).index(name) if name in shown else None
        for row, experiment in enumerate(context.summaries):
            ours = found[experiment, name]
            of = "Ours" if printed else context.short_title(experiment)
            if column is not None:
                heat_map(grid[row, column], ours, f"{of}: {title}", options.who)
            frames.append(long_form(ours, "ours" if printed else experiment, name))
        if name in printed:
            heat_map(grid[-1, column], printed[name], f"arXiv v1: {title}", options.who)
            frames.append(long_form(printed[name], "arxiv_v1", name))
        elif printed and column is not None:
            grid[-1, column].set_axis_off()
    for axis in grid[:, 0]:
        axis.set_ylabel(options.who)
    maps = grid[0, 0].collections[0]
    figure.colorbar(maps, ax=grid.ravel().tolist(), shrink=0.6, label="cosine")
    panel_labels([axis for axis in grid.flat if axis.axison])
    if equal:
        names = " and ".join(options.maps[name] for name in equal)
        figure.suptitle(f"Not drawn: {names}; every cosine between two {options.who}s is 1.",
                        x=0.01, ha="left", color=FAINT, fontsize=6.5)  # fmt: skip
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def matrix(summary: Summary, options: Options, name: str) -> np.ndarray:
    """The cosines [agent, agent], the mean over seeds."""
    cell = summary.cell_at(options.variant, **options.point)
    rows = summary.statistics
    rows = rows[(rows["cell"] == cell) & (rows["agent"] >= 0)]
    rows = numbered(rows, f"{name}_similarity_")
    return rows.pivot(index="agent", columns="number", values="mean").to_numpy()


def heat_map(axis: Axes, values: np.ndarray, title: str, who: str) -> None:
    """One map, agent 1 at the bottom left as in the paper; its least where no number is in it."""
    import pandas as pd
    import seaborn

    agents = range(1, len(values) + 1)
    few = len(agents) <= ANNOTATED
    every = 1 if few else len(agents) // 4
    seaborn.heatmap(
        pd.DataFrame(values, agents, agents), cmap="RdBu_r", vmin=-1, vmax=1, square=True,
        annot=few, fmt="z.2f", annot_kws={"fontsize": 4.5}, cbar=False, xticklabels=every,
        yticklabels=every, ax=axis,
    )  # fmt: skip
    axis.invert_yaxis()
    axis.tick_params(axis="y", rotation=0)
    axis.set_title(title, loc="left")
    axis.set_xlabel(who if few else f"{who} (least cosine {values.min():.3f})".replace("-", "−"))


def long_form(values: np.ndarray, source: str, name: str) -> pd.DataFrame:
    import pandas as pd

    first, second = np.indices(values.shape)
    return pd.DataFrame({
        "source": source, "of": name, "agent": first.ravel() + 1, "other": second.ravel() + 1,
        "cosine": values.ravel(),
    })  # fmt: skip
