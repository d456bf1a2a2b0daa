"""Every variant of an experiment beside the others, whether or not the paper printed it.

Each experiment has one without being asked; `comparison` in its settings chooses the metric, what
is better, and the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pfedrl.analysis.curves import looks
from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.labels import cell_label, swept_name
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import mean_interval, paired_differences
from pfedrl.analysis.style import CEILING, FAINT, PAPER, panel_grid, panel_labels
from pfedrl.analysis.summaries import STATISTICS, Summary, sweep_name
from pfedrl.analysis.tables import (
    NOTHING,
    Aligned,
    Column,
    Section,
    Table,
    digits_of,
    distance,
    estimate,
    left_out_note,
    sweep_text,
)
from pfedrl.core.errors import PfedrlError
from pfedrl.core.metrics import PREFERRED, words_of
from pfedrl.core.registry import is_control
from pfedrl.pipeline.paper import LONG_RUN, SHOWN, Comparison

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

SENT = "megabytes_sent"
FEW = 20  # seeds, each of which can be told from the others
COLUMNS = 3
ROW, HEAD = 0.2, 0.75  # inches: a variant, and what a panel needs besides


class Options(Comparison, BaseOptions):
    """The experiment's own `comparison`."""

    def named(self) -> Iterator[Named]:
        yield Named("comparison", variant=self.baseline)
        yield Named("comparison", metric=self.metric)
        if (top := self.ceiling) is not None:
            yield Named("comparison.ceiling", top.experiment, top.cell, metric=top.metric)


class Variant(NamedTuple):
    """A cell to compare."""

    cell: str
    name: str
    label: str
    algorithm: str
    learns: bool


def draw(context: Context) -> Drawing:
    import pandas as pd

    name = context.artifact.experiments[0]
    summary = context.summaries[name]
    options = context.options(Options)
    points = list(compared(context, name))
    metric = options.metric or default_metric(name, summary, points)
    top = ceiling(context, options)
    data = pd.DataFrame(
        [
            row | {"point": point, "paper": theirs(context, row)}
            for point, variants in points
            for row in (*rows(summary, options, metric, variants), *top)
        ]
    )
    if data["paper"].isna().all():
        data = data.drop(columns="paper")
    return Drawing(as_figure(context, summary, metric, data), data, as_table(data, metric))


def theirs(context: Context, row: Mapping[str, Any]) -> float:
    return context.printed(row["experiment"], row["cell"], row["metric"])


def compared(context: Context, name: str) -> Iterator[tuple[str, list[Variant]]]:
    """The variants at each point of the family's sweep; what algorithms sweep tells them apart."""
    spec, summary = context.paper.experiments[name], context.summaries[name]
    family = [sweep_name(key) for key in spec.sweep if key.startswith("family.")]
    own = [sweep_name(key) for key in spec.sweep if key.startswith("algorithm.")]
    order = list(spec.variants)
    columns = ["cell", "variant", "algorithm", *family, *own]
    cells = summary.statistics[columns].drop_duplicates().astype({"cell": str})
    cells = cells.sort_values(own, kind="stable") if own else cells
    groups: Iterable[tuple[Any, pd.DataFrame]] = [((), cells)]
    if family:
        groups = cells.groupby(family, sort=True)
    for values, group in groups:
        point = ", ".join(
            f"{swept_name(key)} = {sweep_text(value)}"
            for key, value in zip(family, values, strict=True)
        )
        found = [variant(context, name, row, own) for row in group.to_dict("records")]
        yield point, sorted(found, key=lambda v: (not v.learns, order.index(v.name)))


def variant(context: Context, experiment: str, row: Mapping[Any, Any], swept: list[str]) -> Variant:
    """A cell and its label, with what is swept."""
    algorithm, name = str(row["algorithm"]), str(row["variant"])
    ran = context.summaries[experiment].algorithm(row["cell"])
    spec = context.paper.experiments[experiment]
    label = cell_label(spec, name, ran, {key: row[key] for key in swept})
    return Variant(row["cell"], name, label, algorithm, not is_control(algorithm))


def default_metric(
    experiment: str, summary: Summary, points: list[tuple[str, list[Variant]]]
) -> str:
    learning = [v.cell for _, variants in points for v in variants if v.learns]
    for metric in PREFERRED:
        if learning and all(summary.measures(cell, metric) for cell in learning):
            return metric
    raise PfedrlError(
        f"{experiment}: none of {', '.join(PREFERRED)} is measured by every variant. Choose a "
        "metric: comparison.metric in experiments.yaml."
    )


def rows(
    summary: Summary, options: Options, metric: str, variants: list[Variant]
) -> list[dict[str, Any]]:
    """Each variant's final values, and its differences on the same seeds to two of them."""
    measured = [v for v in variants if summary.measures(v.cell, metric)]
    finals = {v.cell: summary.final(v.cell, metric) for v in measured}
    means = {
        v.cell: summary.last(v.cell, metric)["mean"]
        for v in measured
        if v.learns and np.isfinite(finals[v.cell]).any()
    }
    sign = -1 if options.best == "lowest" else 1
    best = max(means, key=lambda cell: sign * means[cell], default=None)
    first = [v.cell for v in measured if v.name == (options.baseline or v.name)]
    baseline = next((cell for cell in first if cell in means), None)
    found = []
    for own in measured:
        last = summary.last(own.cell, metric)
        row = {**own._asdict(), "experiment": summary.experiment, "metric": metric}
        row |= {key: last[key] for key in STATISTICS}
        for key, other in (("best", best), ("baseline", baseline)):
            row |= {key: other, **difference(key, finals, own.cell, other)}
        sent = summary.measures(own.cell, SENT)
        found.append(row | {SENT: summary.last(own.cell, SENT)["mean"] if sent else math.nan})
    return found


def ceiling(context: Context, options: Options) -> list[dict[str, Any]]:
    """The final value of the ceiling's cell, if its experiment was run; seeds are not paired."""
    top = options.ceiling
    if top is None or (summary := context.summaries.get(str(top.experiment))) is None:
        return []
    last = summary.last(top.cell, str(top.metric))
    own = Variant(top.cell, top.cell, LONG_RUN, str(last["algorithm"]), learns=False)
    row = {**own._asdict(), "experiment": top.experiment, "metric": top.metric, SENT: math.nan}
    for key in ("best", "baseline"):
        row |= {key: None, **difference(key, {}, top.cell, None)}
    return [row | {key: last[key] for key in STATISTICS}]


def difference(
    key: str, finals: dict[str, np.ndarray], cell: str, other: str | None
) -> dict[str, float]:
    """A cell's mean difference to another, with its interval; nothing to itself."""
    mean = low = high = math.nan
    if other is not None and other != cell:
        differences = paired_differences(finals[cell], finals[other])
        differences = differences[np.isfinite(differences)]
        if len(differences):
            mean, (low, high) = float(differences.mean()), map(float, mean_interval(differences))
    return {f"to_{key}": mean, f"to_{key}_low": low, f"to_{key}_high": high}


def as_table(data: pd.DataFrame, metric: str) -> Table:
    sent, printed = data[SENT].notna().any(), "paper" in data
    columns = [Column("Variant", words=True), Column(words_of(metric)), Column("95% interval")]
    columns += [Column("Paper"), Column("to the paper", "Difference")] if printed else []
    columns += [Column("to the best", "Difference"), Column("to the baseline", "Difference")]
    columns += [Column(words_of(SENT))] if sent else []
    sections = []
    for point, group in data.groupby("point", sort=False):
        texts = []
        for row in group.to_dict("records"):
            mean = estimate(row["mean"], row["se"], row["missing"], row["diverged"])
            digits = mean.digits if isinstance(mean, Aligned) else 2
            cells = [row["label"], mean, span(row["low"], row["high"], digits)]
            if printed:
                number = NOTHING if math.isnan(row["paper"]) else f"{row['paper']:g}"
                cells += [number.replace("-", "−"), distance(row["mean"], row["paper"], digits)]
            for key in ("best", "baseline"):
                itself = "the best" if key == "best" else "the baseline"
                cells.append(itself if row["cell"] == row[key] else shift(row, key, digits))
            if sent:
                size = row[SENT]
                cells.append(Aligned("{:,.{d}f}", (size,), digits_of(size / 100)) if size == size
                             else NOTHING)  # fmt: skip
            texts.append(cells)
        sections.append(Section(str(point), texts))
    notes = [
        "Mean ± standard error of the final values over seeds. Differences are paired by seed, "
        'with 95% intervals. "Best" is chosen on these same seeds, so it is optimistic. Controls '
        "are excluded.",
        *left_out_note(data),
    ]
    return Table(columns, sections, data.drop(columns="label"), notes)


def span(low: float, high: float, digits: int) -> str:
    if math.isnan(low):
        return NOTHING
    return Aligned("{:.{d}f} to {:.{d}f}", (low, high), digits)


def shift(row: Mapping[Any, Any], key: str, digits: int) -> str:
    mean, low, high = (row[f"to_{key}{end}"] for end in ("", "_low", "_high"))
    if math.isnan(mean):
        return NOTHING
    if math.isnan(low):  # one seed has no interval
        return Aligned("{:+.{d}f}", (mean,), digits)
    return Aligned("{:+.{d}f} [{:.{d}f} to {:.{d}f}]", (mean, low, high), digits)


def as_figure(context: Context, summary: Summary, metric: str, data: pd.DataFrame) -> Any:
    """A panel for each point: every seed's final value, and the mean with its interval."""
    import pandas as pd

    points = list(data.groupby("point", sort=False))
    most = int(data.groupby("point").size().max())
    figure, axes = panel_grid(len(points), COLUMNS, ROW * most + HEAD, sharex=True)
    styles = {
        row["label"]: context.styles.of(
            row["algorithm"] if row["experiment"] == summary.experiment else CEILING
        )
        for row in data.to_dict("records")
    }
    colours = {label: look.colour for label, look in looks(styles).items()}
    for place, (axis, (point, own)) in enumerate(zip(axes, points, strict=True)):
        records = own.to_dict("records")
        seeds = pd.concat(
            [
                pd.DataFrame({"label": row["label"], "value": finals(context, row)})
                for row in records
            ],
            ignore_index=True,
        )
        strip(axis, own, seeds, colours)
        axis.set_title(
            str(point) or context.paper.experiments[summary.experiment].title, loc="left"
        )
        axis.set_xlabel(words_of(metric))
        axis.tick_params(labelbottom=True)
        axis.xaxis.label.set_visible(True)  # below what is not the last of its column, too
        if place % COLUMNS:  # names stand at the left of each row
            axis.set_yticklabels([])
    panel_labels(axes)
    if "paper" in data:
        (mark,) = axes[0].plot([], [], color=FAINT, **PAPER)
        figure.legend([mark], ["printed in the paper"], loc="outside lower center")
    return figure


def finals(context: Context, row: Mapping[Any, Any]) -> np.ndarray:
    """The final values of a row's seeds, at most the first SHOWN."""
    return context.summaries[row["experiment"]].final(row["cell"], row["metric"])[:SHOWN]


def strip(
    axis: matplotlib.axes.Axes, own: pd.DataFrame, seeds: pd.DataFrame, colours: dict[str, str]
) -> None:
    import seaborn

    labels = own["label"].tolist()
    alpha = 0.7 if len(seeds) <= FEW * len(labels) else 0.2
    seaborn.stripplot(
        seeds, x="value", y="label", hue="label", order=labels, hue_order=labels,
        palette=[colours[label] for label in labels], jitter=False, size=3, alpha=alpha,
        zorder=4, legend=False, ax=axis,
    )  # fmt: skip
    for place, row in enumerate(own.to_dict("records")):
        colour = colours[row["label"]]
        axis.plot([row["low"], row["high"]], [place, place], color=colour, lw=1.0, zorder=3)
        axis.plot(row["mean"], place, "|", color=colour, ms=9, mew=1.8, zorder=5)
        axis.plot(row.get("paper", math.nan), place, color=colour, **PAPER)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.set_ylabel("")
