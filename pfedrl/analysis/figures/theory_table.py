"""Theory on drawn instances: how often each statement holds, and the smallest case where not."""

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.outcomes import ROUNDING
from pfedrl.analysis.style import label_of
from pfedrl.analysis.tables import NOTHING, Column, Section, Table
from pfedrl.analysis.theory import instances, size_of
from pfedrl.pipeline.claim import Claim, Exists, Holds


def draw(context: Context) -> Table:
    """One row for each claim that tests a statement on instances; the claim names the metric."""
    import pandas as pd

    columns = [Column("Statement", words=True), Column("Claim", words=True)]
    columns += [Column(title) for title in ("Instances", "Holds on", "Tightest", "Counterexample")]
    rows, data = [], []
    for claim in context.paper.claims:
        test = claim.test
        if not isinstance(test, Holds | Exists) or test.experiment not in context.summaries:
            continue
        row = _numbers(context, claim, test)
        inside = row["inside"]
        share = f"{row['share']:.1%}" if inside else NOTHING
        if inside and isinstance(test, Exists):
            share = f"found in {share}"
        count = f"{inside:,} of {row['drawn']:,}" if inside != row["drawn"] else f"{inside:,}"
        seed, size = row["counterexample_seed"], row["counterexample_size"]
        found = NOTHING if seed is None else f"seed {seed}{f', size {size:g}' if size else ''}"
        rows.append([
            str(row["label"]), claim.words, count, share,
            f"{row['tightest']:.3g}".replace("-", "−"), found,
        ])  # fmt: skip
        data.append(row)
    notes = [
        "Instances: those that meet the statement's premises, out of all drawn. If none does, the "
        "rest of the row is no evidence.",
        "Tightest: the smallest value of the metric over instances; it is negative (beyond "
        "rounding) where the statement fails. For a claim that an instance exists: the largest.",
    ]
    return Table(columns, [Section("", rows)], pd.DataFrame(data), notes)


def _numbers(context: Context, claim: Claim, test: Holds | Exists) -> dict[str, object]:
    summary = context.summaries[test.experiment]
    drawn = instances(summary, test.variant, test.metric)
    count, found = len(drawn.table), None
    if isinstance(test, Holds):
        failing = drawn.below(-ROUNDING)
        holding = count - drawn.undefined - failing
        tightest = drawn.lowest()
        if failing:
            found = drawn.smallest_below(-ROUNDING)
    else:
        holding = drawn.above(test.above)
        tightest = drawn.highest()
    algorithm = summary.algorithm(tightest["cell"])["name"]
    return {
        "claim": claim.id,
        "kind": test.kind,
        "statement": algorithm,
        "label": label_of(algorithm),
        "metric": test.metric,
        "drawn": drawn.drawn,
        "inside": drawn.inside,
        "instances": count,
        "undefined": drawn.undefined,
        "holding": holding,
        "share": holding / count,
        "tightest": tightest["value"],
        "tightest_seed": tightest["seed"],
        "counterexample_seed": None if found is None else found["seed"],
        "counterexample_size": None if found is None else size_of(found),
        "counterexample_metric": None if found is None else found["value"],
    }
