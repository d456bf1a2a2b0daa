"""DePRL, Tables 1, 2, 7 and 8: accuracies by data set, pi, graph and algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import label_of
from pfedrl.analysis.tables import (
    NOTHING,
    Column,
    Section,
    Table,
    distance,
    estimate,
    left_out_note,
)
from pfedrl.core.settings import Settings
from pfedrl.pipeline.paper import Printed

PAPER = "Paper"


class Group(Settings):
    """Columns of a table: the same algorithms on a graph."""

    title: str
    variants: list[str] = Field(min_length=1, description="one for each row, in order")


class Options(BaseOptions):
    """Accuracies: a section for each data set, a row for each pi and algorithm."""

    groups: list[Group] = Field(min_length=1)
    controls: list[str] = Field(
        default_factory=list, description="variants without a graph, the same in all groups"
    )
    metrics: dict[str, str] = Field(
        min_length=1,
        description="a heading to its metric, where {pi} is the row's; the paper prints the first",
    )
    pi: list[float] = Field(min_length=1, description="one block of rows for each")
    trained_at: float | None = Field(None, description="pi of the training runs, if not the row's")

    def named(self) -> Iterator[Named]:
        for variant in (*self.controls, *(v for group in self.groups for v in group.variants)):
            yield Named("groups or controls", variant=variant)
        for title, metric in self.metrics.items():
            for pi in self.pi:
                yield Named(f"metrics.{title}", metric=metric.format(pi=f"{pi:g}"))


def draw(context: Context) -> Table:
    import pandas as pd

    options = context.options(Options)
    printed = {(row.experiment, row.variant, row.metric, row.at): row
               for row in context.artifact.printed}  # fmt: skip
    sections, data = [], []
    for experiment in context.artifact.experiments:
        rows = []
        for pi in options.pi:
            for line in lines(options):
                texts = [f"{pi:g}", label(context, experiment, line[0])]
                for group, variant in zip(options.groups, line, strict=True):
                    entries = entry(context, options, printed, experiment, variant, pi)
                    texts += [text for text, _ in entries]
                    data += [numbers | {"group": group.title} for _, numbers in entries]
                if any(text != NOTHING for text in texts[2:]):  # else neither we nor they have it
                    rows.append(texts)
        if rows:
            sections.append(Section(context.title(experiment), rows))
    columns = [Column("π"), Column("Algorithm", words=True)]
    for group in options.groups:
        columns += [Column(title, group.title) for title in (*options.metrics, PAPER, "Distance")]
    frame = pd.DataFrame(data)
    frame = frame[frame["mean"].notna() | frame["paper"].notna()].drop_duplicates()
    frame["distance"] = frame["mean"] - frame["paper"]
    notes = [
        f"Distance: {next(iter(options.metrics)).lower()} less the paper's.",
        *left_out_note(frame),
    ]
    return Table(columns, sections, frame.reset_index(drop=True), notes)


def lines(options: Options) -> list[list[str]]:
    """The variants of each row, one for each group."""
    order = zip(*(group.variants for group in options.groups), strict=True)
    return [*map(list, order), *([control] * len(options.groups) for control in options.controls)]


def label(context: Context, experiment: str, variant: str) -> str:
    given = context.paper.experiments[experiment].variants[variant]
    return label_of(given.get("algorithm", variant))


def entry(
    context: Context,
    options: Options,
    printed: dict[tuple[str, str, str, Any], Printed],
    experiment: str,
    variant: str,
    pi: float,
) -> list[tuple[str, dict[str, Any]]]:
    """Our value of each metric, and the paper's: as text and in full.

    Deviations over seeds are given, as the paper does; standard errors are in the data.
    """
    trained = pi if options.trained_at is None else options.trained_at
    summary = context.summaries.get(experiment)
    metrics = {title: name.format(pi=f"{pi:g}") for title, name in options.metrics.items()}
    found = []
    for metric in metrics.values():
        row: dict[str, Any] = {"experiment": experiment, "pi": pi, "variant": variant,
               "metric": metric, "mean": np.nan, "deviation": np.nan, "se": np.nan,
               "seeds": 0, "missing": 0, "diverged": 0,
               "paper": np.nan, "paper_error": np.nan}  # fmt: skip
        text = NOTHING
        if summary is not None:
            cell = summary.cell_at(variant, pi=trained)
            last, values = summary.last(cell, metric), summary.final(cell, metric)
            finite = values[np.isfinite(values)]
            deviation = float(finite.std(ddof=1)) if len(finite) > 1 else np.nan
            row |= {key: last[key] for key in ("mean", "se", "seeds", "missing", "diverged")}
            row["deviation"] = deviation
            text = estimate(last["mean"], deviation, last["missing"], last["diverged"])
        found.append((text, row))
    first = next(iter(metrics.values()))
    theirs = printed.get((experiment, variant, first, trained))
    if theirs is None:
        return [*found, (NOTHING, found[0][1]), (NOTHING, found[0][1])]
    found[0][1]["paper"], found[0][1]["paper_error"] = float(theirs.value), theirs.standard_error
    away = distance(found[0][1]["mean"], float(theirs.value), 2)
    return [*found, (theirs.text, found[0][1]), (away, found[0][1])]
