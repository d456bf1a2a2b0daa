"""How figures look: one style for every paper, and the same bytes each time one is drawn."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pfedrl.algorithms.algorithm import Style
from pfedrl.core.registry import load_runnable

INK = "#222222"
FAINT = "#8a8a8a"
WIDTH = 7.2  # inches: two columns of text
SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,  # embedded as text that can be selected and searched
    "ps.fonttype": 42,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
}
# a file says nothing of when it was drawn: dates would change its bytes
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
LINES: tuple[Any, ...] = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))
CROWDED = 5  # entries beyond which a legend would hide what is drawn


@contextmanager
def paper_style() -> Iterator[None]:
    """Drawing inside looks like the papers' figures; nothing leaks out."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for key, value in SETTINGS.items():
            matplotlib.rcParams[key] = value
        yield


def label_of(algorithm: str) -> str:
    """An algorithm's or statement's name, as the papers write it."""
    return load_runnable(algorithm).label


def style_of(algorithm: str) -> Style:
    """An algorithm's colour, line and marker, the same in every figure."""
    return load_runnable(algorithm).style


def ramp(count: int) -> list[tuple[Any, Any]]:
    """Colour and line for each point of a sweep, light to dark: told apart in grey, too."""
    colours = matplotlib.colormaps["viridis_r"]
    span = [0.15 + 0.75 * i / max(count - 1, 1) for i in range(count)]
    return [(colours(at), LINES[i % len(LINES)]) for i, at in enumerate(span)]


def panel_labels(axes: Sequence[Axes]) -> None:
    """(a), (b), ... before each panel's title."""
    for axis, letter in zip(axes, "abcdefghijklmnop", strict=False):
        axis.set_title(f"({letter}) {axis.get_title('left')}", loc="left", fontweight="bold")


def legend(axis: Axes) -> None:
    """Inside where there is room, to the right of the panel where there is not."""
    crowded = len(axis.get_legend_handles_labels()[0]) > CROWDED
    if crowded:
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0)
    else:
        axis.legend(loc="best")


def new_figure(height: float, **layout: Any) -> tuple[Figure, Any]:
    """A figure of the text's width with its panels; it belongs to no window."""
    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.subplots(**layout)
