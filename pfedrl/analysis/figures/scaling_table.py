"""DePRL, Table 9: final accuracy and times, by the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.style import label_of
from pfedrl.analysis.summaries import Summary
from pfedrl.analysis.tables import NOTHING, Aligned, Column, Section, Table, distance, estimate
from pfedrl.core.settings import Settings


class Timed(Settings):
    """How long something takes: ours in steps, the paper's in seconds."""

    metric: str
    reached: str | None = Field(
        None, description="a metric that is 0 if the target was not reached"
    )
    printed: dict[str, dict[str, list[float]]] = Field(
        default_factory=dict,
        description="experiment to variant to the paper's seconds, one for each point",
    )


class Options(BaseOptions):
    """Accuracy and times by the number of workers: a section for each data set."""

    variants: list[str] = Field(min_length=1)
    along: str
    points: list[float] = Field(min_length=1, description="values of the sweep in the paper")
    metric: str = Field(description="the accuracy that is printed beside ours")
    times: dict[str, Timed] = Field(description="a heading to the time below it")

    def named(self) -> Iterator[Named]:
        for variant in self.variants:
            yield Named("variants", variant=variant)
        yield Named("metric", metric=self.metric)
        for title, timed in self.times.items():
            for metric in filter(None, (timed.metric, timed.reached)):
                yield Named(f"times.{title}", metric=metric)


def draw(context: Context) -> Table:
    import pandas as pd

    options = context.options(Options)
    printed = {(row.experiment, row.variant, row.at): f"{row.value}"
               for row in context.artifact.printed}  # fmt: skip
    sections, data = [], []
    for experiment in context.artifact.experiments:
        spec, summary = context.paper.experiments[experiment], context.summaries.get(experiment)
        rows = []
        for place, point in enumerate(options.points):
            for variant in options.variants:
                theirs = printed.get((experiment, variant, point), NOTHING)
                full: dict[str, Any] = {"experiment": experiment, "point": point,
                                        "variant": variant}  # fmt: skip
                text, numbers = accuracy(summary, options, variant, point)
                texts = [f"{point:g}", label_of(spec.variants[variant].get("algorithm", variant)),
                         text, theirs]  # fmt: skip
                value = np.nan if theirs == NOTHING else float(theirs)
                texts.append(distance(numbers["accuracy"], value, 2))
                full |= numbers | {"paper_accuracy": value}
                for heading, timed in options.times.items():
                    paper = timed.printed.get(experiment, {}).get(variant, [])
                    ours = times(summary, options, timed, variant)
                    texts += entries(ours, place) + entries(paper, place)
                    key = heading.lower().replace(" ", "_")
                    full |= {f"{key}_steps": ours[place] if ours else np.nan,
                             f"{key}_paper_seconds": paper[place] if paper else np.nan}  # fmt: skip
                rows.append(texts)
                data.append(full)
        sections.append(Section(context.title(experiment), rows))
    columns = [Column("N"), Column("Algorithm", words=True)]
    columns += [Column(title, "Accuracy") for title in ("Ours", "Paper", "Distance")]
    for heading in options.times:
        columns += [Column(title, heading) for title in
                    ("steps", "times faster", "paper, s", "paper, times faster")]  # fmt: skip
    notes = [
        f"Times faster: relative to N = {options.points[0]:g} for the same algorithm, in our runs "
        "or in the paper. ∞: at least one seed never reached the target."
    ]
    return Table(columns, sections, pd.DataFrame(data), notes)


def accuracy(
    summary: Summary | None, options: Options, variant: str, point: float
) -> tuple[str, dict[str, float]]:
    """Mean and deviation over seeds."""
    if summary is None:
        return NOTHING, {"accuracy": np.nan, "accuracy_deviation": np.nan}
    values = summary.final(summary.points_along(variant, options.along)[point], options.metric)
    mean, deviation = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else np.nan
    return estimate(mean, deviation), {"accuracy": mean, "accuracy_deviation": deviation}


def times(summary: Summary | None, options: Options, timed: Timed, variant: str) -> list[float]:
    """Mean steps at each point; infinite if a seed never reached the target."""
    if summary is None:
        return []
    found = []
    cells = summary.points_along(variant, options.along)
    for point in options.points:
        values = summary.final(cells[point], timed.metric)
        there = timed.reached is None or summary.final(cells[point], timed.reached).all()
        found.append(float(values.mean()) if there else np.inf)
    return found


def entries(values: list[float], place: int) -> list[str]:
    """A time, and how many times faster it is than the first."""
    if not values:
        return [NOTHING, NOTHING]
    time = values[place]
    faster = values[0] / time if np.isfinite(values[0]) and np.isfinite(time) and time else np.nan
    shown = "∞" if np.isinf(time) else Aligned("{:,.{d}f}", (time,), 0 if time >= 1000 else 1)
    return [shown, f"{faster:.2f}" if np.isfinite(faster) else NOTHING]
