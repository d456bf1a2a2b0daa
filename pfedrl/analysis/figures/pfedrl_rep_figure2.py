"""PFedRL-Rep, Figure 2: each agent's estimate beside the truth, and its course over episodes."""

import pandas as pd
from matplotlib.axes import Axes

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import FAINT, INK, LINES, label_of, new_figure, panel_labels, style_of
from pfedrl.analysis.summaries import Summary

ESTIMATE, TRUTH, EPISODES = "negative_value", "negative_true_value", "episodes"


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    data = _data(summary)
    cells = list(dict.fromkeys(data["cell"]))
    agents = sorted(data["agent"].unique())
    figure, axes = new_figure(4.6, nrows=2, ncols=2)
    panels = list(axes.flat)
    panels[0].set_title("After the last round", loc="left")
    _draw_last(panels[0], data, cells, agents)
    for agent, axis in zip(agents, panels[1:], strict=True):
        axis.set_title(f"Agent {agent + 1}", loc="left")
        _draw_course(axis, data[data["agent"] == agent], cells)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
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
    return estimates.sort_values(keys).astype(plain).reset_index(drop=True)


def _look(data: pd.DataFrame, cell: str) -> tuple[str, str, object]:
    """Label, colour and line; a variant that is not named as its algorithm is faint and dotted."""
    algorithm = data.loc[data["cell"] == cell, "algorithm"].iloc[0]
    if cell == algorithm:
        return label_of(algorithm), style_of(algorithm).colour, style_of(algorithm).line
    return f"{label_of(algorithm)} ({cell.removeprefix(algorithm).strip('_')})", FAINT, LINES[-1]


def _draw_last(axis: Axes, data: pd.DataFrame, cells: list[str], agents: list[int]) -> None:
    last = data[data["at"] == data["at"].max()]
    width = 0.7 / len(cells)
    for agent in agents:
        truth = last.loc[last["agent"] == agent, TRUTH].iloc[0]
        axis.plot([agent - 0.42, agent + 0.42], [truth, truth], color=INK, lw=0.9, zorder=1)
    for place, cell in enumerate(cells):
        rows = last[last["cell"] == cell]
        label, colour, _ = _look(data, cell)
        x = rows["agent"] + (place - (len(cells) - 1) / 2) * width
        axis.vlines(x, rows["low"], rows["high"], color=colour)
        axis.plot(x, rows["mean"], "o", color=colour, label=label)
    axis.set_xticks(agents, [f"agent {agent + 1}" for agent in agents])
    axis.set_ylabel("negative value (mean, 95% CI)")
    axis.annotate("— truth", (0.98, 0.03), xycoords="axes fraction", ha="right", fontsize=6.5)


def _draw_course(axis: Axes, data: pd.DataFrame, cells: list[str]) -> None:
    axis.axhline(data[TRUTH].iloc[0], color=INK, lw=0.9, label="truth")
    for cell in cells:
        rows = data[data["cell"] == cell].sort_values("at")
        label, colour, line = _look(data, cell)
        axis.plot(rows[EPISODES], rows["mean"], color=colour, ls=line, label=label)
        axis.fill_between(rows[EPISODES], rows["low"], rows["high"], color=colour, alpha=0.15, lw=0)
    axis.set_xlabel("episode of the agent (mean over seeds)")
    axis.set_ylabel("negative value")
    axis.set_ylim(bottom=min(0.0, data["low"].min()))
    axis.margins(x=0.01)
