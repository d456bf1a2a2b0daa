"""Statements of the theory on drawn instances: one that fails is enough, if it is one of theirs."""

from dataclasses import replace

from pfedrl.analysis.instances import instances, premises, rebuild
from pfedrl.analysis.outcomes import CONTRADICTED, OUTSIDE, REPRODUCED, UNDECIDED, Outcome
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.claim import Exists, Holds, Test


def holds(test: Holds, summary: Summary) -> Outcome:
    drawn = instances(summary, test.variant, test.metric)
    count, undefined = len(drawn.values), drawn.undefined
    among = f" that meet its premises, of {drawn.drawn:,}" if count < drawn.drawn else ""
    failing = drawn.below(-test.tolerance)
    unclear = f"; {undefined:,} are undefined" if undefined else ""
    if undefined == count:
        return Outcome(f"undefined on all {count:,} instances", count, UNDECIDED)
    lowest = drawn.lowest()
    if failing == 0:
        verdict = UNDECIDED if undefined else REPRODUCED
        evidence = f"holds on {count - undefined:,} of {count:,} instances{among}{unclear}; "
        evidence += f"tightest: {lowest.words()}"
        return Outcome(evidence, count, verdict, effect=lowest.value)
    found = drawn.smallest_below(-test.tolerance)
    evidence = (
        f"fails on {failing:,} of {count:,} instances{among} ({failing / count:.1%}){unclear}; "
        f"smallest counterexample: {found.words()}"
    )
    return Outcome(
        evidence, count, CONTRADICTED, effect=lowest.value, counterexample=rebuild(summary, found)
    )


def exists(test: Exists, summary: Summary) -> Outcome:
    drawn = instances(summary, test.variant, test.metric)
    count, found = len(drawn.values), drawn.above(test.tolerance)
    if drawn.undefined == count:
        return Outcome(f"undefined on all {count:,} instances", count, UNDECIDED)
    highest = drawn.highest()
    evidence = f"{found:,} of {count:,} instances; the clearest: {highest.words()}"
    # that none was drawn does not show that none exists
    return Outcome(evidence, count, REPRODUCED if found else UNDECIDED, effect=highest.value)


def within_premises(outcome: Outcome, test: Test, summary: Summary) -> Outcome:
    """No verdict on a statement where no instance in some cell of the test meets its premises."""
    cells = [getattr(test, name) for name in ("cell", "greater", "smaller") if hasattr(test, name)]
    if isinstance(test, Holds | Exists):
        cells = summary.cells(test.variant)
    if all(premises(summary, cell).any() for cell in cells):
        return outcome
    evidence = (
        f"no instance meets the statement's premises; if they are ignored: {outcome.evidence}"
    )
    return replace(
        outcome, evidence=evidence, verdict=OUTSIDE, p_for=None, p_against=None,
        counterexample=None,
    )  # fmt: skip
