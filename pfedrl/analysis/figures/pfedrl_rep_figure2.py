"""PFedRL-Rep, Figure 2: each agent's estimate beside the truth, and its course over episodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from pfedrl.analysis.curves import Look, draw_curves, looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import INK, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Options(BaseOptions):
    """What the text says of convergence."""

    converges: dict[str, float] = Field(
        default_factory=dict,
        description="a cell to the episode at which the paper's first agent is there",
    )

    def named(self) -> Iterator[Named]:
        for cell in self.converges:
            yield Named("converges", cell=cell)


MARKERS = "osD^v"
ESTIMATE, TRUTH, EPISODES = "negative_value", "negative_true_value", "episodes"


def draw(context: Context) -> Drawing:
    from matplotlib.lines import Line2D

    (summary,) = context.summaries.values()
    data = _data(context, summary)
    given = looks({
        label: context.styles.of(algorithm)
        for label, algorithm in zip(data["line"], data["algorithm"], strict=True)
    })  # fmt: skip
    markers = dict(zip(given, MARKERS, strict=False))
    agents = sorted(data["agent"].unique())
    figure, axes = new_figure(4.6, nrows=2, ncols=2)
    panels = list(axes.flat)
    panels[0].set_title("After the last round", loc="left")
    _draw_last(panels[0], data, given, markers)
    for agent, axis in zip(agents, panels[1:], strict=True):
        axis.set_title(f"Agent {agent + 1}", loc="left")
        _draw_course(axis, data[data["agent"] == agent], given)
    for cell, episode in context.options(Options).converges.items():
        label = data.loc[data["cell"] == cell, "line"].iloc[0]
        panels[1].axvline(episode, color=given[label].colour, ls=":", lw=1.2)
    drawn = [Line2D([], [], color=INK, lw=0.9)]
    drawn += [Line2D([], [], marker=markers[label], **given[label].drawn) for label in given]
    words = ["truth", *given]
    if context.options(Options).converges:
        drawn.append(Line2D([], [], color=INK, ls=":", lw=1.2))
        words.append("(b) converged, as the paper says")
    figure.legend(drawn, words, loc="outside lower center", ncols=3)
    panel_labels(panels)
    return Drawing(figure, data)


def _data(context: Context, summary: Summary) -> pd.DataFrame:
    """Estimates by agent and round, with the episodes that an agent has had by then."""
    rows = summary.statistics[summary.statistics["agent"] >= 0]
    keys = ["cell", "variant", "algorithm", "agent", "at"]
    estimates = rows[rows["metric"] == ESTIMATE][[*keys, "mean", "se", "low", "high", "seeds"]]
    for metric in (EPISODES, TRUTH):
        other = rows[rows["metric"] == metric][[*keys, "mean"]].rename(columns={"mean": metric})
        estimates = estimates.merge(other, on=keys)
    plain = {"cell": str, "variant": str, "algorithm": str}
    estimates = estimates.sort_values(keys).astype(plain).reset_index(drop=True)
    return estimates.assign(line=[context.label("figure2", cell) for cell in estimates["cell"]])


def _draw_last(
    axis: Axes, data: pd.DataFrame, given: dict[str, Look], markers: dict[str, str]
) -> None:
    last = data[data["at"] == data["at"].max()]
    agents = sorted(data["agent"].unique())
    width = 0.7 / len(given)
    for agent in agents:
        truth = last.loc[last["agent"] == agent, TRUTH].iloc[0]
        axis.plot([agent - 0.42, agent + 0.42], [truth, truth], color=INK, lw=0.9, zorder=1)
    for place, (label, look) in enumerate(given.items()):
        rows = last[last["line"] == label]
        x = rows["agent"] + (place - (len(given) - 1) / 2) * width
        axis.vlines(x, rows["low"], rows["high"], color=look.colour)
        axis.plot(x, rows["mean"], markers[label], color=look.colour)
    axis.set_xticks(agents, [f"agent {agent + 1}" for agent in agents])
    axis.set_ylabel("negative value (mean, 95% CI)")


def _draw_course(axis: Axes, data: pd.DataFrame, given: dict[str, Look]) -> None:
    axis.axhline(data[TRUTH].iloc[0], color=INK, lw=0.9)
    draw_curves(axis, data.assign(at=data[EPISODES]), given)
    axis.set_xlabel("episode of the agent (mean over seeds)")
    axis.set_ylabel("negative value")
    axis.set_ylim(bottom=min(0.0, data["low"].min()))
    axis.margins(x=0.01)
