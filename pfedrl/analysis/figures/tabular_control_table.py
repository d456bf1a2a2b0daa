"""Control from samples: one row for each algorithm, one column for each family."""

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.style import label_of
from pfedrl.analysis.summaries import STATISTICS
from pfedrl.analysis.tables import NOTHING, Column, Section, Table, final, left_out_note

METRIC = "objective"


def draw(context: Context) -> Table:
    import pandas as pd

    rows: dict[str, dict[str, str]] = {}
    data = []
    for name, summary in context.summaries.items():
        known = summary.statistics[["cell", "algorithm"]].astype(str).drop_duplicates()
        for cell, algorithm in known.itertuples(index=False):
            last = summary.last(cell, METRIC)
            rows.setdefault(algorithm, {})[name] = final(last)
            data.append({
                "experiment": name, "algorithm": algorithm,
                **{key: last[key] for key in STATISTICS},
            })  # fmt: skip
    titles = [context.paper.experiments[name].title for name in context.summaries]
    columns = [Column("Algorithm", words=True), *(Column(title) for title in titles)]
    body = [
        [label_of(algorithm), *(found.get(name, NOTHING) for name in context.summaries)]
        for algorithm, found in rows.items()
    ]
    frame = pd.DataFrame(data)
    return Table(columns, [Section("", body)], frame, left_out_note(frame))
