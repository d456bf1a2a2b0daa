"""The figures of a suite: everybody's score, whom sharing hurts, and scores by heterogeneity."""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfedrl.analysis.style import FAINT, INK, Styles, new_figure, panel_grid
from pfedrl.analysis.tables import sweep_text
from pfedrl.suites.board import Board, Placed, Sharing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.17  # inches
LEGEND = 0.16
LEAST = 1e-6  # that a logarithmic axis shows of a price
SHIFT = 0.006  # of the axis, between algorithms at one point


class Look(NamedTuple):
    """How a variant is drawn: as its algorithm; others of the same algorithm are hollow."""

    colour: str
    line: str
    marker: str
    fill: str


def looks(found: Board, styles: Styles) -> dict[str, Look]:
    """By label."""
    drawn: dict[str, Look] = {}
    seen: Counter[str] = Counter()
    for row in sorted(found.rows, key=lambda row: row.name):
        style = styles.of(row.algorithm)
        number = seen[row.algorithm]
        seen[row.algorithm] += 1
        line = (style.line, ":", "-.", "--")[number % 4] if number else style.line
        fill = (style.colour, "white", FAINT)[min(number, 2)]
        drawn[row.label] = Look(style.colour, line, style.marker, fill)
    return drawn


def priced(found: Board) -> bool:
    """Whether learning alone reaches the ceiling, so that a score is better read as its price."""
    return found.suite.alone in found.suite.controls


def scores(found: Board, styles: Styles) -> "Figure | None":
    """Everybody's score with its interval, the best first; learning alone as a line."""
    rows = [row for row in found.rows if not row.control]
    if not rows:
        return None
    drawn = looks(found, styles)
    figure, axis = new_figure(0.7 + ROW * len(rows))
    for place, row in enumerate(rows):
        look, ends = drawn[row.label], (row.low, row.score, row.high)
        low, score, high = (max(1 - end, LEAST) for end in ends) if priced(found) else ends
        axis.plot([low, high], [place, place], color=look.colour, lw=2.5, alpha=0.45)
        axis.plot(score, place, look.marker, color=look.colour, mfc=look.fill)
    if priced(found):
        axis.set_xscale("log")
        axis.set_xlabel("price of sharing: 1 less the score")
    else:
        for row in found.rows:
            if row.name == found.suite.alone:
                axis.axvline(row.score, color=INK, lw=0.8, ls="--", zorder=0)
                axis.annotate(
                    row.label, (row.score, 1.0), (-2, 2), xycoords=("data", "axes fraction"),
                    textcoords="offset points", fontsize=6.5, ha="right",
                )  # fmt: skip
        axis.set_xlabel("score: 0 is the best control that learns nothing, 1 the ceiling")
    axis.set_yticks(range(len(rows)), [f"{row.rank}  {row.label}" for row in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    return figure


def agents(found: Board) -> "Figure | None":
    """What sharing does to each agent, paired with the same agent alone."""
    if not found.sharing:
        return None
    labels = list(dict.fromkeys(one.label for one in found.sharing))
    columns = list(dict.fromkeys((one.place, one.agent) for one in found.sharing))
    cells = {(one.label, one.place, one.agent): one for one in found.sharing}
    values = np.array([[cells[label, *column].difference for column in columns]
                       for label in labels])  # fmt: skip
    figure, axis = new_figure(1.1 + ROW * len(labels))
    reach = float(np.abs(values).max()) or 1.0
    shown = axis.imshow(values, cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto")
    for y, label in enumerate(labels):
        for x, column in enumerate(columns):
            _mark(axis, x, y, cells[label, *column], reach)
    axis.set_yticks(range(len(labels)), labels)
    axis.set_xticks(range(len(columns)), [str(agent + 1) for _, agent in columns])
    axis.grid(False)
    first = 0
    for place, group in groupby(columns, key=lambda column: column[0]):
        size = len(list(group))
        axis.annotate(
            place, (first + (size - 1) / 2, 1.0), (0, 4), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center",
        )  # fmt: skip
        if first:
            axis.axvline(first - 0.5, color="white", lw=2)
        first += size
    axis.set_xlabel("agent  (+ shown to help, × shown to hurt, at evidence of 100)")
    bar = figure.colorbar(shown, ax=axis, fraction=0.03, pad=0.02)
    bar.set_label("score less that of the same agent alone")
    return figure


def _mark(axis: "Axes", x: int, y: int, one: Sharing, reach: float) -> None:
    sign = {"helps": "+", "hurts": "×"}.get(one.shown)
    if sign:
        colour = "white" if abs(one.difference) > 0.6 * reach else INK
        axis.text(x, y, sign, ha="center", va="center", fontsize=7, color=colour)


def by_spread(found: Board, styles: Styles) -> "Figure | None":
    """Scores against how far environments differ, and how many agents sharing hurts there."""
    placed = [one for one in found.placed if one.spread is not None]
    if not placed:
        return None
    suite, sharing = found.suite, found.sharing
    swept = {name for name, task in suite.tasks.items() if task.sweep}
    panels: dict[str, list[Placed]] = {}
    for one in placed:
        panels.setdefault(suite.tasks[one.task].title if one.task in swept else "", []).append(one)
    drawn = looks(found, styles)
    order = [row.label for row in found.rows if not row.control]
    count = len(panels) + bool(sharing)
    figure, axes = panel_grid(count, 2, 2.4, LEGEND * len(order) / 3)
    for axis, (title, rows) in zip(axes, panels.items(), strict=False):
        _curves(axis, rows, order, drawn, priced(found))
        axis.set_title(title, loc="left")
    if sharing:
        _hurt(axes[count - 1], placed, sharing, order, drawn)
    for axis in axes[:count]:
        axis.set_xlabel(suite.spread)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _curves(
    axis: "Axes", rows: list[Placed], order: list[str], drawn: dict[str, Look], price: bool
) -> None:
    ticks = sorted({one.spread or 0.0 for one in rows})
    for place, label in enumerate(order):
        own = sorted((one for one in rows if one.label == label), key=lambda one: one.spread or 0)
        shift = SHIFT * (ticks[-1] - ticks[0]) * (place - len(order) / 2)
        x = [(one.spread or 0) + shift for one in own]
        ends = np.array([(one.low, one.score, one.high) for one in own]).T
        low, y, high = np.maximum(1 - ends[::-1], LEAST) if price else ends
        look = drawn[label]
        axis.errorbar(
            x, y, [y - low, high - y], color=look.colour, ls=look.line, marker=look.marker,
            mfc=look.fill, label=label, elinewidth=0.7, lw=0.9,
        )  # fmt: skip
    axis.set_xticks(ticks, [sweep_text(tick) for tick in ticks])
    axis.set_ylabel("price of sharing: 1 less the score" if price else "score")
    if price:
        axis.set_yscale("log")


def _hurt(
    axis: "Axes", placed: list[Placed], sharing: list[Sharing], order: list[str],
    drawn: dict[str, Look],
) -> None:  # fmt: skip
    """The number of agents that sharing is shown to hurt, by algorithm."""
    spreads = {one.place: one.spread or 0.0 for one in placed}
    counts: Mapping[str, dict[float, int]] = {label: {} for label in order}
    for one in sharing:
        at = counts[one.label]
        at[spreads[one.place]] = at.get(spreads[one.place], 0) + (one.shown == "hurts")
    for label, at in counts.items():
        if at:
            look = drawn[label]
            axis.plot(list(at), list(at.values()), color=look.colour, ls=look.line,
                      marker=look.marker, mfc=look.fill, lw=0.9)  # fmt: skip
    agents = max(one.agent for one in sharing) + 1
    axis.set_title("whom sharing hurts", loc="left")
    axis.set_ylabel(f"agents shown to be hurt, of {agents}")
    axis.set_ylim(-0.2, agents + 0.2)
