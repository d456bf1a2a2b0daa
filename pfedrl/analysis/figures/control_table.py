"""PFedRL-Rep, Tables 3 and 4: returns over training, and what running takes.

Options: `variants`, in the order of rows; `labels` of those that the paper names otherwise; `floor`
and `ceiling`, the controls; `printed_seconds`, the paper's running times.
"""

from typing import Any

import pandas as pd

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.style import label_of
from pfedrl.analysis.summaries import Summary
from pfedrl.analysis.tables import NOTHING, Column, Section, Table, diverged_note, estimate
from pfedrl.core.recorder import ALL_AGENTS

METRICS = {
    "return_average": "Average", "return_median": "Median", "return_deviation": "Deviation",
    "return_variance": "Variance",
}  # fmt: skip
GREEDY = "greedy_return"


def draw(context: Context) -> Table:
    (summary,) = context.summaries.values()
    options = context.artifact.options
    compared = {(row.variant, row.metric): row.theirs for row in context.comparisons()}
    columns = [Column("Algorithm", words=True), Column("Ours", "Rank"), Column("Paper", "Rank")]
    for metric, title in METRICS.items():
        columns.append(Column("Ours", title))
        if metric != "return_variance":
            columns.append(Column("Paper", title))
    columns += [Column("Greedy"), Column("one after another", "Seconds"),
                Column("side by side", "Seconds"), Column("Paper", "Seconds")]  # fmt: skip
    variants = options["variants"]
    ours = {v: summary.last(v, "return_average")["mean"] for v in variants}
    theirs = {v: compared[v, "return_average"] for v in variants}
    seconds = options["printed_seconds"]
    texts, data = [], []
    for variant in variants:
        row = figures(summary, variant)
        agents = summary.facts["cells"][variant]["settings"]["family"]["agents"]
        serial = row["seconds"]
        name = options.get("labels", {}).get(variant, label_of(row["algorithm"]))
        cells = [name, str(rank(ours, variant)), str(rank(theirs, variant))]
        for metric in METRICS:
            cells.append(row[metric])
            if metric != "return_variance":
                printed = compared.get((variant, metric))
                cells.append(NOTHING if printed is None else f"{printed:g}".replace("-", "−"))
        cells += [row[GREEDY], f"{serial:.0f}", f"{serial / agents:.0f}", f"{seconds[variant]:g}"]
        texts.append(cells)
        data.append(numbers(summary, variant) | {
            "seconds_one_after_another": serial, "seconds_side_by_side": serial / agents,
            **{f"paper_{m}": compared.get((variant, m)) for m in METRICS},
            "paper_seconds": seconds[variant],
        })  # fmt: skip
    controls = []
    for variant in (options["ceiling"], options["floor"]):
        row = figures(summary, variant)
        cells = [label_of(row["algorithm"]), NOTHING, NOTHING]
        for metric in METRICS:
            cells.append(row[metric])
            if metric != "return_variance":
                cells.append(NOTHING)
        controls.append([*cells, row[GREEDY], *[NOTHING] * 3])
        data.append(numbers(summary, variant))
    frame = pd.DataFrame(data)
    notes = [
        f"{label_of(options['ceiling'])}, agent by agent: {by_agent(summary, options['ceiling'])}.",
        *diverged_note(int(frame["diverged"].sum())),
    ]
    return Table(columns, [Section("", texts), Section("Controls", controls)], frame, notes)


def by_agent(summary: Summary, variant: str) -> str:
    """The averages of every agent, in the order of the environments."""
    rows = summary.statistics
    own = rows[(rows["cell"] == variant) & (rows["metric"] == "return_average")]
    own = own[own["agent"] != ALL_AGENTS].sort_values("agent")
    return ", ".join(f"{mean:.1f}".replace("-", "−") for mean in own["mean"])


def rank(averages: dict[str, float], variant: str) -> int:
    """1 is the highest average."""
    return sorted(averages.values(), reverse=True).index(averages[variant]) + 1


def figures(summary: Summary, variant: str) -> dict[str, Any]:
    """A row's entries as text, and the seconds that one seed took."""
    found: dict[str, Any] = {}
    for metric in (*METRICS, GREEDY):
        if not summary.measures(variant, metric):
            found[metric] = NOTHING
            continue
        last = summary.last(variant, metric)
        found[metric] = estimate(last["mean"], last["se"], last["diverged"])
        found["algorithm"] = str(last["algorithm"])
    cell = summary.facts["cells"][variant]
    found["seconds"] = cell["cpu_seconds"] / (cell["seeds"][1] - cell["seeds"][0])
    return found


def numbers(summary: Summary, variant: str) -> dict[str, Any]:
    """The same in full."""
    row: dict[str, Any] = {"variant": variant, "diverged": 0}
    for metric in (*METRICS, GREEDY):
        if summary.measures(variant, metric):
            last = summary.last(variant, metric)
            row |= {metric: last["mean"], f"{metric}_se": last["se"]}
            row["diverged"] = max(row["diverged"], int(last["diverged"]))
    return row
