"""Curves with intervals: how a line looks, and how lines are drawn into a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pfedrl.analysis.style import Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Dash = tuple[float, ...]  # lengths of dashes and gaps; none for a solid line
DASHES: dict[str, Dash] = {"-": (), "--": (4, 1.5), "-.": (4, 1.5, 1, 1.5), ":": (1, 1.2)}
SHADED: tuple[Dash, ...] = ((), (5, 1), (3, 1, 1, 1), (2, 1), (1, 1))
BLACKISH = 0.35  # of a colour's mean, below which anything darker looks as black as controls
STEP = 0.025  # of a panel's width, between intervals at the lines' ends


class Look(NamedTuple):
    """A line's colour and dashes."""

    colour: Any
    dash: Dash

    @property
    def drawn(self) -> dict[str, Any]:
        """As matplotlib takes it."""
        return {"color": self.colour, "ls": (0, self.dash) if self.dash else "-"}


def own_look(style: Style) -> Look:
    return Look(style.colour, DASHES[style.line])


def shades(style: Style, count: int) -> list[Look]:
    """Shades of an algorithm's colour, light to dark, with dashes: told apart in grey, too."""
    import matplotlib.colors
    import seaborn

    colour = np.array(matplotlib.colors.to_rgb(style.colour))
    light, dark = 0.5 + 0.5 * colour, 0.45 * colour
    ends = [light, colour, dark]
    if count < 3:
        ends = [colour, dark if colour.mean() > BLACKISH else light]
    found = seaborn.blend_palette([tuple(end) for end in ends], count)
    return [Look(shade, SHADED[i % len(SHADED)]) for i, shade in enumerate(found)]


def looks(labels: Mapping[str, Style]) -> dict[str, Look]:
    """A look for each label: an algorithm's own, or shades where one style has several labels."""
    found: dict[str, Look] = {}
    for style in dict.fromkeys(labels.values()):
        own = [label for label, other in labels.items() if other == style]
        given = [own_look(style)] if len(own) == 1 else shades(style, len(own))
        found |= dict(zip(own, given, strict=True))
    return {label: found[label] for label in labels}


def draw_curves(
    axis: Axes, data: pd.DataFrame, looks: Mapping[str, Look], intervals: str = "along"
) -> None:
    """Lines of `line`, at, mean, low, high: bands along them, bars at their ends, or neither.

    A line with a single point becomes a level across the panel.
    """
    import seaborn

    points = data.groupby("line", sort=False)["at"].size()
    levels = [label for label in looks if points.get(label, 0) == 1]
    curves = [label for label in looks if points.get(label, 0) > 1]
    for label in levels:
        mean = data.loc[data["line"] == label, "mean"].iloc[0]
        axis.axhline(mean, lw=0.9, **looks[label].drawn)
    if not curves:
        return
    seaborn.lineplot(
        data[data["line"].isin(curves)], x="at", y="mean", hue="line", style="line",
        hue_order=curves, style_order=curves, palette={c: looks[c].colour for c in curves},
        dashes={c: looks[c].dash or "" for c in curves}, estimator=None, legend=False, ax=axis,
        lw=1.1,
    )  # fmt: skip
    right = data.loc[data["line"].isin(curves), "at"].max()
    for place, label in enumerate(curves, start=1):
        rows = data[data["line"] == label]
        if intervals == "along":
            colour = looks[label].colour
            axis.fill_between(rows["at"], rows["low"], rows["high"], color=colour, alpha=0.15, lw=0)
        elif intervals == "end":
            _draw_end(axis, rows.iloc[-1], right, place, looks[label])


def _draw_end(axis: Axes, last: pd.Series, right: float, place: int, look: Look) -> None:
    """The interval of a line's last point, beside the lines."""
    x = right * (1 + STEP * place)
    axis.vlines(x, last["low"], last["high"], color=look.colour, lw=1.1)
    axis.plot(x, last["mean"], "o", color=look.colour, ms=2)


def handles(looks: Mapping[str, Look]) -> Sequence[Line2D]:
    """The lines of a legend."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], **look.drawn) for look in looks.values()]
