"""PFedRL-Rep, Figure 2: each agent's estimate beside the truth, and its course over episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfedrl.analysis.curves import Look, draw_curves, handles, looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import INK, label_of, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ESTIMATE, TRUTH, EPISODES = "negative_value", "negative_true_value", "episodes"


def draw(context: Context) -> Drawing:
    from matplotlib.lines import Line2D

    (summary,) = context.summaries.values()
    data = _data(summary)
    given = _looks(context, data)
    agents = sorted(data["agent"].unique())
    figure, axes = new_figure(4.6, nrows=2, ncols=2)
    panels = list(axes.flat)
    panels[0].set_title("After the last round", loc="left")
    _draw_last(panels[0], data, given)
    for agent, axis in zip(agents, panels[1:], strict=True):
        axis.set_title(f"Agent {agent + 1}", loc="left")
        _draw_course(axis, data[data["agent"] == agent], given)
    truth = Line2D([], [], color=INK, lw=0.9)
    figure.legend(
        [truth, *handles(given)],
        ["truth", *given],
        loc="outside lower center",
        ncols=1 + len(given),
    )
    panel_labels(panels)
    return Drawing(figure, data)


def _data(summary: Summary) -> pd.DataFrame:
    """Estimates by agent and round, with the episodes that an agent has had by then."""
    rows = summary.statistics[summary.statistics["agent"] >= 0]
    keys = ["cell", "variant", "algorithm", "agent", "at"]
    estimates = rows[rows["metric"] == ESTIMATE][[*keys, "mean", "se", "low", "high", "seeds"]]
    for metric in (EPISODES, TRUTH):
        other = rows[rows["metric"] == metric][[*keys, "mean"]].rename(columns={"mean": metric})
        estimates = estimates.merge(other, on=keys)
    plain = {"cell": str, "variant": str, "algorithm": str}
    estimates = estimates.sort_values(keys).astype(plain).reset_index(drop=True)
    pairs = zip(estimates["cell"], estimates["algorithm"], strict=True)
    return estimates.assign(line=[_label(cell, algorithm) for cell, algorithm in pairs])


def _looks(context: Context, data: pd.DataFrame) -> dict[str, Look]:
    """How each cell's label is drawn; a variant says in what it differs from its algorithm."""
    return looks({
        label: context.styles.of(algorithm)
        for label, algorithm in zip(data["line"], data["algorithm"], strict=True)
    })  # fmt: skip


def _label(cell: str, algorithm: str) -> str:
    differs = cell.removeprefix(algorithm).strip("_")
    return f"{label_of(algorithm)}, {differs}" if differs else label_of(algorithm)


def _draw_last(axis: Axes, data: pd.DataFrame, given: dict[str, Look]) -> None:
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
        axis.plot(x, rows["mean"], "o", color=look.colour)
    axis.set_xticks(agents, [f"agent {agent + 1}" for agent in agents])
    axis.set_ylabel("negative value (mean, 95% CI)")


def _draw_course(axis: Axes, data: pd.DataFrame, given: dict[str, Look]) -> None:
    axis.axhline(data[TRUTH].iloc[0], color=INK, lw=0.9)
    draw_curves(axis, data.assign(at=data[EPISODES]), given)
    axis.set_xlabel("episode of the agent (mean over seeds)")
    axis.set_ylabel("negative value")
    axis.set_ylim(bottom=min(0.0, data["low"].min()))
    axis.margins(x=0.01)
