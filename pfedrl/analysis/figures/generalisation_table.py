"""Training environments and new ones: the objective on each, and the gap between them."""

import math
from collections.abc import Iterator

import numpy as np

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.statistics import standard_error
from pfedrl.analysis.style import label_of
from pfedrl.analysis.summaries import Summary
from pfedrl.analysis.tables import Column, Section, Table, estimate, left_out_note, sweep_text

TRAINING, HELD_OUT = "objective", "held_out_objective"
BASELINE = "baseline_"  # an independent agent's own model, not the average of models
ALONG = "local_steps"
SHOWN = {"training": TRAINING, "held_out": HELD_OUT}


def draw(context: Context) -> Table:
    import pandas as pd

    columns = [Column("Algorithm", words=True), Column("E", words=True)]
    columns += [Column(title) for title in ("Training", "New environments", "Gap")]
    sections, data = [], []
    for name, summary in context.summaries.items():
        rows = []
        for cell, schedule, prefix in _lines(summary):
            numbers = _numbers(summary, cell, prefix)
            algorithm = str(summary.last(cell, TRAINING)["algorithm"])
            rows.append([
                label_of(algorithm), schedule,
                *(
                    estimate(
                        numbers[f"{key}_mean"], numbers[f"{key}_se"],
                        numbers["missing"], numbers["diverged"],
                    )
                    for key in ("training", "held_out", "gap")
                ),
            ])  # fmt: skip
            data.append({"experiment": name, "cell": cell, "schedule": schedule, **numbers})
        sections.append(Section(context.title(name), rows))
    frame = pd.DataFrame(data)
    notes = [
        "E = ∞: agents never communicate; their models are averaged only for the evaluation. "
        "Baseline: the mean over all pairs of an agent trained alone and an environment. Gap: "
        "training minus new environments, for each seed."
    ]
    return Table(columns, sections, frame, notes + left_out_note(frame))


def _lines(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Cell, schedule and prefix of the metrics for each row: each E, then the baseline."""
    for variant in summary.statistics["variant"].unique():
        for cell in summary.cells(variant):
            steps = summary.last(cell, TRAINING).get(ALONG, math.nan)
            yield cell, "–" if math.isnan(steps) else sweep_text(steps), ""
            if summary.measures(cell, BASELINE + TRAINING):
                yield cell, "Baseline", BASELINE


def _numbers(summary: Summary, cell: str, prefix: str) -> dict[str, float]:
    """Means and standard errors on the seeds that are finite in both places."""
    values = {key: summary.final(cell, prefix + metric) for key, metric in SHOWN.items()}
    finite = np.isfinite(values["training"]) & np.isfinite(values["held_out"])
    kept = {key: array[finite] for key, array in values.items()}
    kept["gap"] = kept["training"] - kept["held_out"]
    numbers: dict[str, float] = {}
    for key, array in kept.items():
        numbers[f"{key}_mean"] = float(array.mean()) if len(array) else math.nan
        numbers[f"{key}_se"] = float(standard_error(array))
    ended = [int(summary.last(cell, prefix + metric)["diverged"]) for metric in SHOWN.values()]
    missing = int((~finite).sum())
    return numbers | {"seeds": len(finite), "missing": missing, "diverged": max(ended)}
