"""Curves with intervals: how a line looks, and how lines are drawn into a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pfedrl.analysis.style import FAINT, PAPER, Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Dash = tuple[float, ...]  # lengths of dashes and gaps; none for a solid line
DASHES: dict[str, Dash] = {"-": (), "--": (4, 1.5), "-.": (4, 1.5, 1, 1.5), ":": (1, 1.2)}
SHADED: tuple[Dash, ...] = ((), (5, 1), (3, 1, 1, 1), (2, 1), (1, 1))
BLACKISH = 0.35  # of a colour's mean, below which anything darker looks as black as controls
ENDS = 0.17  # of a panel's width: the last points beside it
BAND: dict[str, Any] = {"alpha": 0.13, "lw": 0}
SEED: dict[str, Any] = {"lw": 0.5, "alpha": 0.45}  # of a single seed's line


class Look(NamedTuple):
    """A line's colour and dashes."""

    colour: Any
    dash: Dash

    @property
    def drawn(self) -> dict[str, Any]:
        """As matplotlib takes it."""
        return {"color": self.colour, "ls": (0, self.dash) if self.dash else "-"}


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
        one = [Look(style.colour, DASHES[style.line])]
        found |= dict(zip(own, one if len(own) == 1 else shades(style, len(own)), strict=True))
    return {label: found[label] for label in labels}


def draw_curves(axis: Axes, data: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Lines of `line`, at, mean, low, high, with bands; a few seeds are thin lines instead.

    A line with a single point becomes a level across the panel.
    """
    for label, look in looks.items():
        rows = data[data["line"] == label]
        if len(rows) == 1:
            axis.axhline(rows["mean"].iloc[0], lw=0.9, **look.drawn)
        if len(rows) < 2:
            continue
        axis.plot(rows["at"], rows["mean"], lw=1.1, zorder=2.5, **look.drawn)
        if one_by_one(rows):
            seeds = np.stack(rows["by_seed"].to_list())
            axis.plot(rows["at"], seeds, color=look.colour, **SEED)
        else:
            band = {"color": look.colour, **BAND}
            axis.fill_between(rows["at"], rows["low"], rows["high"], **band)


def one_by_one(rows: pd.DataFrame) -> bool:
    """Whether a line's seeds are so few that each is drawn."""
    return "by_seed" in rows and bool(rows["by_seed"].notna().all())


def draw_ends(beside: Axes, axis: Axes, data: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """In a narrow panel of its own, outside the time axis: each line's last mean with its interval
    and, as a hollow diamond, the number that the paper prints (column `paper`)."""
    points = data.groupby("line", sort=False)["at"].size()
    shown = [label for label in looks if points.get(label, 0) > 1]
    for place, label in enumerate(shown):
        last = data[data["line"] == label].iloc[-1]
        beside.vlines(place, last["low"], last["high"], color=looks[label].colour, lw=1.1)
        beside.plot(place, last["mean"], "o", color=looks[label].colour, ms=2)
        if np.isfinite(last["paper"]):
            paper = {"color": looks[label].colour, "clip_on": False, **PAPER}
            beside.plot(place, last["paper"], **paper)
    lows, highs = zip(axis.get_ylim(), beside.get_ylim(), strict=True)
    for one in (axis, beside):
        one.set(ylim=(min(lows), max(highs)) if axis.get_autoscaley_on() else axis.get_ylim())
    beside.set_xlim(-1, len(shown))
    beside.set_axis_off()


def mark_beyond(axis: Axes, data: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """A triangle at the panel's edge wherever a line leaves it."""
    low, high = axis.get_ylim()
    for label, look in looks.items():
        rows = data[data["line"] == label]
        if len(rows) == 1:  # a level, not a line that leaves
            continue
        for edge, marker, out in ((low, "v", rows["mean"] < low), (high, "^", rows["mean"] > high)):
            first = rows[out & ~out.shift(fill_value=False)]["at"]
            first = first[first <= axis.get_xlim()[1]]
            if first.empty:
                continue
            axis.plot(first, [edge] * len(first), ls="", marker=marker, color=look.colour, ms=4,
                      clip_on=False, zorder=4)  # fmt: skip


def handles(looks: Mapping[str, Look]) -> Sequence[Line2D]:
    """The lines of a legend."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], **look.drawn) for look in looks.values()]


def spread_handles(data: pd.DataFrame, band: str) -> dict[str, Artist]:
    """Entries of a legend that say what bands, thin lines and diamonds are, where there are any."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    curves = [rows for _, rows in data.groupby(["panel", "line"]) if len(rows) > 1]
    found: dict[str, Artist] = {}
    if any(not one_by_one(rows) for rows in curves):
        found[band] = Patch(color=FAINT, **BAND | {"alpha": 0.3})
    if any(one_by_one(rows) for rows in curves):
        found["one seed"] = Line2D([], [], color=FAINT, **SEED)
    if "paper" in data and data["paper"].notna().any():
        found["printed in the paper"] = Line2D([], [], color=FAINT, **PAPER)
    return found
