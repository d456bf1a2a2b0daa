"""PFedRL-Rep, Tables 3 and 4: returns over training, and what running takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.summaries import Summary
from pfedrl.analysis.tables import NOTHING, Column, Section, Table, distance, final, left_out_note
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.core.registry import is_control

METRICS = {
    "return_average": "Average", "return_median": "Median", "return_deviation": "Deviation",
    "return_variance": "Variance",
}  # fmt: skip
GREEDY = "greedy_return"
SECONDS = {
    "one_after_another": "one after another", "side_by_side": "side by side", "paper": "Paper",
}  # fmt: skip


PRINTED = [metric for metric in METRICS if metric != "return_variance"]


class Options(BaseOptions):
    """Statistics of training. Variants that are not listed follow the listed ones."""

    variants: list[str] = Field(default_factory=list, description="the first rows, in order")
    floor: str
    ceiling: str
    printed_seconds: dict[str, float] = Field(default_factory=dict)

    def named(self) -> Iterator[Named]:
        yield Named("floor", variant=self.floor)
        yield Named("ceiling", variant=self.ceiling)
        for variant in (*self.variants, *self.printed_seconds):
            yield Named("variants or printed_seconds", variant=variant)


def draw(context: Context) -> Table:
    import pandas as pd

    (summary,) = context.summaries.values()
    options = context.options(Options)
    found = {(row.variant, row.metric): row for row in context.comparisons()}
    compared = {key: row.theirs for key, row in found.items()}
    away = {key: row.ours - row.theirs for key, row in found.items()}
    variants, controls = rows_of(summary, options), [options.ceiling, options.floor]
    averages = [v for v in variants if (v, "return_average") in compared]
    ranks = {
        "Ours": ranked({v: summary.last(v, "return_average")["mean"] for v in variants}),
        "Paper": ranked({v: compared[v, "return_average"] for v in averages}),
    }
    texts, data = {}, []
    for variant in [*variants, *controls]:
        row, full = finals(summary, variant)
        seconds = {} if variant in controls else running_times(summary, variant)
        if variant in options.printed_seconds:
            seconds["paper"] = options.printed_seconds[variant]
        cells = [context.label(summary.experiment, variant)]
        cells += [str(rank.get(variant, NOTHING)) for rank in ranks.values()]
        for metric in METRICS:
            cells.append(row[metric])
            if metric in PRINTED:
                cells.append(number(compared.get((variant, metric))))
                cells.append(distance(away.get((variant, metric), math.nan), 0.0))
        cells.append(row[GREEDY])
        cells += [number(seconds.get(key), ".0f") for key in SECONDS]
        texts[variant] = cells
        data.append(
            full
            | {f"seconds_{key}": seconds.get(key) for key in SECONDS}
            | {f"paper_{metric}": compared.get((variant, metric)) for metric in METRICS}
            | {f"distance_{metric}": away.get((variant, metric)) for metric in PRINTED}
        )
    frame = pd.DataFrame(data)
    ceiling = texts[options.ceiling][0]
    notes = [
        "Distance: ours less the paper's.",
        f"{ceiling}, average of each agent: {by_agent(summary, options.ceiling)}.",
        *left_out_note(frame),
    ]
    sections = [
        Section("", [texts[variant] for variant in variants]),
        Section("Controls", [texts[variant] for variant in controls]),
    ]
    return Table(columns(), sections, frame, notes)


def columns() -> list[Column]:
    found = [Column("Algorithm", words=True), Column("Ours", "Rank"), Column("Paper", "Rank")]
    for metric, title in METRICS.items():
        found.append(Column("Ours", title))
        if metric in PRINTED:
            found += [Column("Paper", title), Column("Distance", title)]
    return [*found, Column("Greedy"), *(Column(title, "Seconds") for title in SECONDS.values())]


def rows_of(summary: Summary, options: Options) -> list[str]:
    """The variants that the options list, then every other that learns."""
    learning = [
        cell for cell, facts in summary.facts["cells"].items()
        if not is_control(facts["settings"]["algorithm"]["name"])
    ]  # fmt: skip
    return list(dict.fromkeys([*options.variants, *learning]))


def running_times(summary: Summary, variant: str) -> dict[str, float]:
    """Core seconds for one seed, with agents one after another and with agents in parallel."""
    serial = summary.seconds(variant)
    agents = summary.family(variant)["agents"]
    return {"one_after_another": serial, "side_by_side": serial / agents}


def number(value: float | None, form: str = "g") -> str:
    return NOTHING if value is None else f"{value:{form}}".replace("-", "−")


def ranked(averages: dict[str, float]) -> dict[str, int]:
    """1 is the highest average."""
    order = sorted(averages.values(), reverse=True)
    return {variant: order.index(average) + 1 for variant, average in averages.items()}


def by_agent(summary: Summary, variant: str) -> str:
    """The averages of every agent, in the order of the environments."""
    rows = summary.statistics
    own = rows[(rows["cell"] == variant) & (rows["metric"] == "return_average")]
    own = own[own["agent"] != ALL_AGENTS].sort_values("agent")
    return ", ".join(f"{mean:.1f}".replace("-", "−") for mean in own["mean"])


def finals(summary: Summary, variant: str) -> tuple[dict[str, str], dict[str, Any]]:
    """A row's entries as text, and in full."""
    texts = dict.fromkeys((*METRICS, GREEDY), NOTHING)
    numbers: dict[str, Any] = {"variant": variant, "missing": 0, "diverged": 0}
    for metric in texts:
        if summary.measures(variant, metric):
            last = summary.last(variant, metric)
            texts[metric] = final(last)
            numbers |= {metric: last["mean"], f"{metric}_se": last["se"]}
            for key in ("missing", "diverged"):
                numbers[key] = max(numbers[key], int(last[key]))
    return texts, numbers
