"""QAvg, Table 1: value in the noiseless centre as environments grow apart."""

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.printed import Comparison, in_columns
from pfedrl.analysis.style import label_of
from pfedrl.analysis.summaries import STATISTICS, Summary
from pfedrl.analysis.tables import (
    NOTHING,
    Column,
    Section,
    Table,
    final,
    left_out_note,
    signed,
    sweep_text,
)

METRIC = "centre_value"
ALONG = "kappa"
ALGORITHMS = ("qavg", "soft_pavg", "proj_pavg")
FLOOR, CEILING = "random_policy", "optimal_policy"


def draw(context: Context) -> Table:
    import pandas as pd

    columns = [Column("κ", words=True), Column(label_of(FLOOR))]
    for variant in ALGORITHMS:
        label = label_of(variant)
        columns += [Column("Ours", label), Column("Paper", label), Column("Δ/s.e.", label)]
    columns.append(Column(label_of(CEILING)))
    compared = {(row.experiment, row.cell): row for row in context.comparisons()}
    sections, data = [], []
    for name, summary in context.summaries.items():
        rows = []
        for kappa in summary.points_along(ALGORITHMS[0], ALONG):
            cells = {v: summary.cell_at(v, kappa=kappa) for v in (FLOOR, *ALGORITHMS, CEILING)}
            texts = [sweep_text(kappa), _ours(summary, cells[FLOOR])]
            for variant in ALGORITHMS:
                texts += [
                    _ours(summary, cells[variant]),
                    *_theirs(compared.get((name, cells[variant]))),
                ]
            rows.append([*texts, _ours(summary, cells[CEILING])])
            data += [_row(summary, cell, kappa, compared.get((name, cell)))
                     for cell in cells.values()]  # fmt: skip
        sections.append(Section(context.title(name), rows))
    frame = pd.DataFrame(data)
    notes = [
        "Ours and Paper: mean ± standard error over seeds. Δ/s.e.: ours minus the paper's in "
        "combined standard errors, after allowing for the rounding of the printed number. An error "
        "printed as 0.00 is taken as half of its last digit."
    ]
    notes += left_out_note(frame)
    return Table(columns, sections, frame, notes)


def _ours(summary: Summary, cell: str) -> str:
    return final(summary.last(cell, METRIC))


def _theirs(compared: Comparison | None) -> tuple[str, str]:
    if compared is None:
        return NOTHING, NOTHING
    return compared.printed, signed(compared.deviation)


def _row(
    summary: Summary, cell: str, kappa: float, compared: Comparison | None
) -> dict[str, object]:
    last = summary.last(cell, METRIC)
    return {
        "experiment": summary.experiment,
        "variant": last["variant"],
        "kappa": kappa,
        **{key: last[key] for key in STATISTICS},
        **in_columns(compared),
    }
