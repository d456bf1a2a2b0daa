"""FedKL, Section V.D: rounds of communication until the return reaches a target."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import standard_error
from pfedrl.analysis.style import label_of
from pfedrl.analysis.tables import NOTHING, Aligned, Column, Section, Table, digits_of

METRIC = "rounds_to_target"


class Options(BaseOptions):
    """Communication rounds until a target is reached."""

    cells: list[str]
    paper: dict[str, float] = Field(
        default_factory=dict, description="a cell to the rounds that the paper reports"
    )

    def named(self) -> Iterator[Named]:
        for cell in self.cells:
            yield Named("cells", cell=cell, metric="rounds_to_target")
        for cell in self.paper:
            yield Named("paper", cell=cell)


def draw(context: Context) -> Table:
    import pandas as pd

    (summary,) = context.summaries.values()
    options = context.options(Options)
    columns = [Column("Algorithm", words=True), Column("Target"), Column("Rounds")]
    columns += [Column("Seeds that reached it"), Column("Paper, to 350")]
    rows, data = [], []
    for cell in options.cells:
        settings = summary.algorithm(cell)
        rounds, best = summary.final(cell, METRIC), summary.final(cell, "best_return")
        reached = int((best >= settings["target"]).sum())
        mean, error = float(rounds.mean()), float(standard_error(rounds))
        theirs = options.paper.get(cell)
        rows.append(
            [
                label_of(settings["name"]),
                f"{settings['target']:g}",
                Aligned(
                    ("" if reached == len(rounds) else "≥ ") + "{:.{d}f} ± {:.{d}f}",
                    (mean, error),
                    digits_of(error),
                ),
                f"{reached} of {len(rounds)}",
                NOTHING if theirs is None else f"about {theirs:g}",
            ]
        )
        data.append(
            {"cell": cell, "target": settings["target"], "mean": mean, "se": error,
             "reached": reached, "seeds": len(rounds), "paper": theirs}
        )  # fmt: skip
    notes = ["A seed that never reached the target is counted with its total number of rounds."]
    return Table(columns, [Section("", rows)], pd.DataFrame(data), notes)
