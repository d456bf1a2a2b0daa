"""How figures look: one style for every paper, and the same bytes each time one is drawn.

workflow/style.yaml lists the colour, line and marker of algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import Field

from pfedrl.core.errors import unknown
from pfedrl.core.files import atomic_write
from pfedrl.core.registry import components, known, load_runnable
from pfedrl.core.settings import Settings, read_yaml, validate
from pfedrl.pipeline.project import Project

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"
FAINT = "#8a8a8a"
CEILING = "best_found"  # the control that ceilings are drawn like
WIDTH = 7.2  # inches: two columns of text
# of a number that the paper prints, in its algorithm's colour
PAPER: dict[str, Any] = {"ls": "", "marker": "D", "mfc": "white", "ms": 3.6, "zorder": 6}
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
# colours that are told apart without green or red, for algorithms that workflow/style.yaml has not
AUTOMATIC = (
    "#117733", "#AA4499", "#DDCC77", "#6699CC", "#661100", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
SPARE = ("#332288", "#44AA99", "#E69F00", "#56B4E9")  # once those are used up
AUTOMATIC_MARKERS = ("P", "X", "v", "D", "*", "s", "^", "o")
CROWDED = 5  # entries beyond which a legend would hide what is drawn


Line = Literal["-", "--", "-.", ":"]


class Style(Settings):
    """How one algorithm is drawn, in every figure."""

    colour: str = Field(pattern=r"^#[0-9A-F]{6}$", description="as in #0072B2")
    line: Line = "-"
    marker: Literal["o", "s", "^", "v", "D", "P", "X", "x", "+", "*", "_", "|", "1"] = "o"


class StyleFile(Settings):
    """workflow/style.yaml; an algorithm that is not listed gets a style by itself."""

    algorithms: dict[str, Style] = Field(
        description="by the name of the algorithm's file: fedq_k is that of tables and of nets"
    )


def listed_styles(project: Project) -> dict[str, Style]:
    """The styles in workflow/style.yaml, by file name of the algorithm; none without the file."""
    path = project.root / "workflow" / "style.yaml"
    if not path.exists():
        return {}
    where = str(path.relative_to(project.root))
    styles = validate(StyleFile, read_yaml(path), where).algorithms
    names = {file_name(name) for name in components("algorithms")}
    for name in styles:
        if name not in names:
            raise unknown("algorithm", name, names, where)
    return styles


@contextmanager
def paper_style() -> Iterator[None]:
    """Figures drawn inside look like the papers'; settings of matplotlib are restored after."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for key, value in SETTINGS.items():
            matplotlib.rcParams[key] = value
        yield


def label_of(algorithm: str) -> str:
    """An algorithm's or statement's name, as the papers write it."""
    return load_runnable(algorithm).label


@dataclass(frozen=True)
class Styles:
    """The style of every algorithm, the same in every figure."""

    by_file: dict[str, Style]

    def of(self, algorithm: str) -> Style:
        return self.by_file[file_name(algorithm)]


def file_name(algorithm: str) -> str:
    """dqn/fedq_k as fedq_k: an algorithm of tables and of nets is drawn alike."""
    return algorithm.rpartition("/")[2]


def every_style(listed: dict[str, Style]) -> Styles:
    """The listed styles and, for the other algorithms in the order of their names, free ones."""
    names = sorted({file_name(name) for name in known("algorithms")})
    free = cycle(free_styles(listed.values()))  # more algorithms than styles share some
    return Styles({name: listed[name] if name in listed else next(free) for name in names})


def free_styles(used: Iterable[Style]) -> Iterator[Style]:
    """Styles whose colour and line no other algorithm has."""
    taken = {(style.colour, style.line) for style in used}
    combined = chain(*(product(get_args(Line), colours) for colours in (AUTOMATIC, SPARE)))
    for (line, colour), marker in zip(combined, cycle(AUTOMATIC_MARKERS), strict=False):
        if (colour, line) not in taken:
            yield Style(colour=colour, line=line, marker=marker)


def panel_labels(axes: Sequence[Axes]) -> None:
    """(a), (b), ... before each panel's title; a single panel needs no letter."""
    if len(axes) == 1:
        return
    for axis, letter in zip(axes, "abcdefghijklmnop", strict=False):
        axis.set_title(f"({letter}) {axis.get_title('left')}", loc="left", fontweight="bold")


def note_absent(figure: Figure, absent: Mapping[str, str]) -> None:
    """One line above the panels for each reason why some were not run."""
    if absent:
        reasons = "\n".join(f"Not run: {reason}." for reason in dict.fromkeys(absent.values()))
        figure.suptitle(reasons, x=0.01, ha="left", color=FAINT, fontsize=6.5)


def legend(axis: Axes, handles: Sequence[Artist] | None = None, labels: Iterable[str] = ()) -> None:
    """Inside where there is room, to the right of the panel where there is not.

    What was drawn with a label is listed, unless handles and labels are given.
    """
    drawn, named = axis.get_legend_handles_labels() if handles is None else (handles, labels)
    if len(drawn) > CROWDED:
        axis.legend(drawn, named, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0)
    else:
        axis.legend(drawn, named, loc="best")


def new_figure(height: float, **layout: Any) -> tuple[Figure, Any]:
    """A figure of the text's width with its panels; it belongs to no window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.subplots(**layout)


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of its name, in the project's style."""
    with paper_style(), atomic_write(path) as temporary:
        figure.savefig(temporary, metadata=METADATA[path.suffix.removeprefix(".")])


def panel_grid(
    count: int, columns: int, row_height: float, legend_height: float = 0.0, **layout: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, in rows of at most so many columns; the height is in inches."""
    columns = min(columns, count)
    rows = -(-count // columns)
    height = row_height * rows + legend_height
    figure, grid = new_figure(height, nrows=rows, ncols=columns, squeeze=False, **layout)
    for axis in grid.flat[count:]:
        axis.set_axis_off()
    return figure, list(grid.flat[:count])
