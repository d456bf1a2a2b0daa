"""The same algorithms under every reading of what the paper leaves open.

An experiment with readings has one without being asked. Some readings were trained for a shorter
time: rows of one length share a panel, and algorithms are to be compared within a row.
"""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from pfedrl.analysis.curves import looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.figures.comparison import Options, compared, default_metric
from pfedrl.analysis.style import FAINT, PAPER, label_of, new_figure, panel_labels
from pfedrl.analysis.summaries import STATISTICS
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import is_control

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

OWN = "as the tables are run"
LINE = 44  # letters of a reading's words
LEGEND = 4  # entries in a line of the legend, which may be wider than the panels otherwise
ROW, HEAD = 0.5, 0.7  # inches: a reading, and what a panel needs besides


def draw(context: Context) -> Drawing:
    import pandas as pd

    name, *readings = context.artifact.experiments
    own = context.summaries[name]
    spec = context.paper.experiments[name]
    points = list(compared(context, name))
    metric = context.options(Options).metric or default_metric(name, own, points)
    labels = {one.cell: one.label for _, variants in points for one in variants}
    shared = [
        variant
        for variant in spec.variants
        if all(variant in context.paper.experiments[other].variants for other in readings)
    ]
    data = pd.DataFrame(
        [
            row(context, experiment, variant, metric) | {"label": labels[variant]}
            for experiment in context.summaries
            for variant in shared
        ]
    )
    lengths = {other: length(context, other, shared[0]) for other in context.summaries}
    groups = [[other for other in lengths if lengths[other] == own]
              for own in dict.fromkeys(lengths.values())]  # fmt: skip
    figure, grid = new_figure(
        ROW * len(lengths) + HEAD * len(groups), nrows=len(groups), squeeze=False,
        height_ratios=[len(group) + 0.6 for group in groups],
    )  # fmt: skip
    controls = data[data["control"] & (data["experiment"] == name)]
    for axis, group in zip(grid.flat, groups, strict=True):
        panel(axis, context, data[~data["control"] & data["experiment"].isin(group)])
        levels(axis, controls)
        axis.set_title(f"{spec.title}, {lengths[group[0]]}", loc="left")
        axis.set_xlabel(words_of(metric))
    axis = grid.flat[0]
    handles, named = axis.get_legend_handles_labels()
    if data["paper"].notna().any():
        handles += axis.plot([], [], color=FAINT, **PAPER)
        named.append("printed in the paper")
    figure.legend(handles, named, ncols=min(len(handles), LEGEND), loc="outside upper center")
    panel_labels(list(grid.flat))
    beside = [] if data["paper"].notna().any() else ["paper"]
    return Drawing(figure, data.drop(columns=["label", *beside]))


def length(context: Context, experiment: str, variant: str) -> str:
    """How long a variant trained, in words: rows of one length share an axis."""
    settings = context.summaries[experiment].algorithm(variant)
    found = (f"{settings[key]:,} {key}" for key in ("episodes", "frames") if key in settings)
    return next(found, f"scale {context.ran_at(experiment)}")


def row(context: Context, experiment: str, variant: str, metric: str) -> dict[str, Any]:
    """The final values of a variant under one reading."""
    reading = context.paper.reading_of(experiment)
    words = OWN if reading is None else reading.words
    last = context.summaries[experiment].last(variant, metric)
    algorithm = str(last["algorithm"])
    return {
        "experiment": experiment, "reading": words, "cell": variant, "algorithm": algorithm,
        "control": is_control(algorithm), "metric": metric, "scale": context.ran_at(experiment),
        **{key: last[key] for key in STATISTICS},
        "paper": context.printed(experiment, variant, metric),
    }  # fmt: skip


def panel(axis: Axes, context: Context, data: pd.DataFrame) -> None:
    """A row a reading; in it each variant's seeds, and the mean with its interval."""
    places = {experiment: place for place, experiment in enumerate(data["experiment"].unique())}
    first = data.drop_duplicates("label").to_dict("records")
    styles = {own["label"]: context.styles.of(own["algorithm"]) for own in first}
    colours = {label: look.colour for label, look in looks(styles).items()}
    order = {label: place for place, label in enumerate(styles)}
    step = 0.7 / len(order)
    for own in data.to_dict("records"):
        at = places[own["experiment"]] + step * (order[own["label"]] - (len(order) - 1) / 2)
        marker, colour = styles[own["label"]].marker, colours[own["label"]]
        seeds = context.summaries[own["experiment"]].final(own["cell"], own["metric"])
        label = own["label"] if places[own["experiment"]] == 0 else None
        axis.plot(seeds, [at] * len(seeds), ls="", marker=marker, ms=3, alpha=0.35, mew=0,
                  color=colour)  # fmt: skip
        axis.plot([own["low"], own["high"]], [at, at], color=colour, lw=1.0)
        axis.plot(own["mean"], at, ls="", marker=marker, ms=4.5, color=colour, label=label)
        axis.plot(own["paper"], at, color=colour, **PAPER)
    first = data.drop_duplicates("experiment").to_dict("records")
    axis.set_yticks(
        list(places.values()),
        [f"{fill(own['reading'], LINE)}\n{own['seeds']:g} seeds" for own in first],
    )
    for place in list(places.values())[1:]:
        axis.axhline(place - 0.5, color=FAINT, lw=0.4)
    axis.set_ylim(len(places) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)


def levels(axis: Axes, controls: pd.DataFrame) -> None:
    """What the controls reach, as lines across the panel."""
    for own, line in zip(controls.to_dict("records"), (":", "--", "-."), strict=False):
        axis.axvline(own["mean"], color=FAINT, ls=line, label=label_of(own["algorithm"]), zorder=1)
