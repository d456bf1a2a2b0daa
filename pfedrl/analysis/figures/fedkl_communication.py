"""FedKL, Section V.D: rounds of communication until the return reaches a target."""

import pandas as pd

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.statistics import standard_error
from pfedrl.analysis.style import label_of
from pfedrl.analysis.tables import NOTHING, Column, Section, Table, estimate
from pfedrl.pipeline.drawings import CommunicationTable

METRIC = "rounds_to_target"


def draw(context: Context) -> Table:
    (summary,) = context.summaries.values()
    options = context.options(CommunicationTable)
    columns = [Column("Algorithm", words=True), Column("Target"), Column("Rounds")]
    columns += [Column("Seeds that reached it"), Column("Paper, to 350")]
    rows, data = [], []
    for cell in options.cells:
        settings = summary.facts["cells"][cell]["settings"]["algorithm"]
        rounds, best = summary.final(cell, METRIC), summary.final(cell, "best_return")
        reached = int((best >= settings["target"]).sum())
        mean, error = float(rounds.mean()), float(standard_error(rounds))
        theirs = options.paper.get(cell)
        rows.append(
            [
                label_of(settings["name"]),
                f"{settings['target']:g}",
                ("" if reached == len(rounds) else "≥ ") + estimate(mean, error),
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
