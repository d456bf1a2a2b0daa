"""The tests of claims, one function a kind: from final values to an outcome."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pfedrl.analysis.instances import instances, premises, rebuild
from pfedrl.analysis.output import short
from pfedrl.analysis.printed import Comparison
from pfedrl.analysis.statistics import (
    LEVEL,
    bonferroni_minimum,
    effect,
    equivalent,
    exponents,
    greater,
    paired_differences,
)
from pfedrl.analysis.summaries import Summary, sweep_name
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.paper import (
    Agrees,
    Equivalent,
    Exists,
    Greater,
    Holds,
    InteriorBest,
    Monotone,
    Near,
    Ordered,
    Slope,
)

REPRODUCED = "reproduced"
CONTRADICTED = "contradicted"
INCONCLUSIVE = "inconclusive"
NOT_RUN = "not run"
OUTSIDE = "outside its assumptions"
SIGNIFICANCE = 1 - LEVEL


@dataclass(frozen=True)
class Outcome:
    """What a test found. A statistical one has p values and leaves the verdict to Holm."""

    evidence: str
    seeds: int
    verdict: str | None = None
    p_for: float | None = None  # that the claim is true
    p_against: float | None = None  # that its opposite is
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    counterexample: dict[str, Any] | None = None


@dataclass(frozen=True)
class Contrast:
    """A difference by seed that a claim speaks of."""

    label: str
    differences: np.ndarray


Reading = tuple[str, str]  # a cell and a metric


def contrast(summary: Summary, label: str, larger: Reading, smaller: Reading) -> Contrast:
    return Contrast(label, paired_differences(summary.final(*larger), summary.final(*smaller)))


def pairs(summary: Summary, cells: list[str], metric: str) -> list[Contrast]:
    """Each cell less every later one."""
    return [
        contrast(summary, f"{first} minus {second}", (first, metric), (second, metric))
        for first, second in combinations(cells, 2)
    ]


def judged(
    contrasts: list[Contrast],
    p_for: Callable[[np.ndarray], float],
    p_against: Callable[[np.ndarray], list[float]],
    unit: str = "paired seeds",
) -> Outcome:
    """All contrasts must hold (intersection-union); one that is reversed contradicts.

    The effect shown is the weakest contrast's. Where a seed diverged its mean does not exist, so
    nothing is concluded; the numbers shown are of the seeds that are left.
    """
    finite = np.all([np.isfinite(c.differences) for c in contrasts], axis=0)
    seeds, left = len(finite), int(finite.sum())
    if left == 0:
        return Outcome(f"none of {seeds:,} seeds has a value", seeds, INCONCLUSIVE)
    kept = [Contrast(c.label, c.differences[finite]) for c in contrasts]
    values = [p_for(c.differences) for c in kept]
    weakest = kept[int(np.argmax(values))]
    size = effect(weakest.differences)
    evidence = (
        f"{'weakest of ' + str(len(kept)) + ': ' if len(kept) > 1 else ''}{weakest.label} = "
        f"{short(size.mean)} (95% CI {short(size.low)} to {short(size.high)}), "
        f"{left:,} {unit}"
    )
    found = Outcome(evidence, seeds, effect=size.mean, low=size.low, high=size.high)
    if left < seeds:
        evidence += f"; {seeds - left:,} of {seeds:,} seeds diverged and are left out"
        return replace(found, evidence=evidence, verdict=INCONCLUSIVE)
    against = bonferroni_minimum([p for c in kept for p in p_against(c.differences)])
    return replace(found, p_for=max(values), p_against=against)


def one_sided(contrasts: list[Contrast], margin: float = 0.0) -> Outcome:
    """Every contrast exceeds the margin."""
    return judged(contrasts, lambda d: greater(d, margin), lambda d: [greater(-d, -margin)])


def within(contrasts: list[Contrast], margin: float, unit: str = "paired seeds") -> Outcome:
    """Every contrast lies between minus and plus the margin."""
    return judged(
        contrasts,
        lambda d: equivalent(d, margin),
        lambda d: [greater(d, margin), greater(-d, margin)],
        unit,
    )


def monotone(test: Monotone, summary: Summary) -> Outcome:
    """From the first point to the last, with no step that goes significantly the other way."""
    points = summary.points_along(test.variant, test.along)
    if test.points:
        points = {point: points[point] for point in map(float, test.points)}
    if len(points) < 2:
        raise PfedrlError(f"{test.experiment}: '{test.variant}' has no two points of {test.along}.")
    key = sweep_name(test.along)

    def fall(before: float, after: float) -> Contrast:
        ends = (before, after) if test.direction == "falls" else (after, before)
        larger, smaller = ((points[end], test.metric) for end in ends)
        return contrast(summary, f"{key}={ends[0]:g} minus {key}={ends[1]:g}", larger, smaller)

    order = list(points)
    whole = one_sided([fall(order[0], order[-1])])
    steps = one_sided([fall(before, after) for before, after in pairwise(order)])
    for part in (steps, whole):
        if part.p_for is None or part.p_against is None:  # a seed diverged
            return part
    assert steps.p_against is not None
    reversed_step = steps.p_against < SIGNIFICANCE
    if reversed_step:
        whole = replace(whole, evidence=f"{whole.evidence}; but a step goes the other way")
    return replace(whole, p_for=1.0 if reversed_step else whole.p_for, p_against=steps.p_against)


def greater_cell(test: Greater, summary: Summary) -> Outcome:
    larger = test.greater, test.greater_metric or test.metric
    smaller = test.smaller, test.metric
    same = larger[1] == smaller[1]
    names = (larger[0], smaller[0]) if same else (larger[1], smaller[1])
    label = f"{names[0]} minus {'' if test.factor == 1 else f'{test.factor:g} times '}{names[1]}"
    multiple = test.factor * summary.final(*smaller)
    differences = paired_differences(summary.final(*larger), multiple)
    return one_sided([Contrast(label, differences)], test.margin)


def interior_best(test: InteriorBest, summary: Summary) -> Outcome:
    key = sweep_name(test.along)
    best = summary.cell_at(test.variant, **{key: float(test.best)})
    return one_sided([
        contrast(
            summary, f"{key}={test.best:g} minus {key}={end:g}", (best, test.metric),
            (summary.cell_at(test.variant, **{key: float(end)}), test.metric),
        )
        for end in test.ends
    ])  # fmt: skip


def equivalent_cells(test: Equivalent, summary: Summary) -> Outcome:
    return within(pairs(summary, test.cells, test.metric), test.margin)


def near(test: Near, summary: Summary) -> Outcome:
    """Whether the mean is within the margin of the value: one equivalence test, or half of one."""
    label = f"{test.metric} of {test.cell} minus {test.value:g}"
    apart = Contrast(label, summary.final(test.cell, test.metric) - test.value)
    if test.side == "below":
        return judged(
            [apart],
            lambda d: greater(-d, -test.margin),
            lambda d: [greater(d, test.margin)],
            unit="seeds",
        )
    return within([apart], test.margin, unit="seeds")


def slope(test: Slope, summary: Summary) -> Outcome:
    """Whether the mean exponent is near the paper's. A bound in a value's place decides nothing."""
    points = summary.points_along(test.variant, test.along)
    values = np.stack([summary.final(cell, test.metric) for cell in points.values()])
    found = exponents(np.array(list(points)), values)
    label = f"exponent of {test.metric} on {sweep_name(test.along)}, minus {test.value:g},"
    outcome = within([Contrast(label, found - test.value)], test.margin, unit="seeds")
    if test.reached is None:
        return outcome
    reached = np.stack([summary.final(cell, test.reached) for cell in points.values()])
    missed = int((reached == 0).sum())
    if missed == 0:
        return outcome
    evidence = f"{outcome.evidence}; {missed} of {reached.size} runs never got there"
    return replace(outcome, evidence=evidence, verdict=INCONCLUSIVE, p_for=None, p_against=None)


def ordered(test: Ordered, summary: Summary) -> Outcome:
    """Every pair in the paper's order; Kendall's tau says how far ours is from it."""
    outcome = one_sided(pairs(summary, test.cells, test.metric))
    means = [float(summary.last(cell, test.metric)["mean"]) for cell in test.cells]
    tau = np.mean([np.sign(first - second) for first, second in combinations(means, 2)])
    evidence = f"Kendall's tau with the paper's order {tau:.2f}; {outcome.evidence}"
    return replace(outcome, evidence=evidence)


def agrees(test: Agrees, comparisons: list[Comparison]) -> Outcome:
    """Every printed number; ours may be too few or diverged to say."""
    deviations = np.array([row.deviation for row in comparisons])
    seeds = min(row.seeds for row in comparisons)
    unclear = sum(bool(np.isnan(row.deviation) or row.diverged) for row in comparisons)
    if np.isnan(deviations).all():
        return Outcome("no standard error with so few seeds", seeds, INCONCLUSIVE)
    worst = comparisons[int(np.nanargmax(np.abs(deviations)))]
    outside = int((np.abs(deviations) > test.within).sum())
    evidence = (
        f"{len(comparisons) - outside} of {len(comparisons)} printed numbers lie within "
        f"{test.within:g} combined standard errors; furthest: {worst.cell} of {worst.experiment}, "
        f"ours {short(worst.ours, 5)}, printed {short(worst.theirs, 5)}, "
        f"{worst.deviation:+.1f} s.e."
    )
    if unclear:
        evidence += f"; {unclear} have diverged seeds or no standard error"
    verdict = CONTRADICTED if outside else INCONCLUSIVE if unclear else REPRODUCED
    return Outcome(evidence, seeds, verdict, effect=worst.deviation)


def holds(test: Holds, summary: Summary) -> Outcome:
    drawn = instances(summary, test.variant, test.metric)
    count, undefined = len(drawn.values), drawn.undefined
    among = f" that meet its premises, of {drawn.drawn:,}" if count < drawn.drawn else ""
    failing = drawn.below(-test.tolerance)
    unclear = f"; {undefined:,} are undefined" if undefined else ""
    if undefined == count:
        return Outcome(f"undefined on all {count:,} instances", count, INCONCLUSIVE)
    lowest = drawn.lowest()
    if failing == 0:
        verdict = INCONCLUSIVE if undefined else REPRODUCED
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
        return Outcome(f"undefined on all {count:,} instances", count, INCONCLUSIVE)
    highest = drawn.highest()
    evidence = f"{found:,} of {count:,} instances; the clearest: {highest.words()}"
    # that none was drawn does not show that none exists
    return Outcome(evidence, count, REPRODUCED if found else INCONCLUSIVE, effect=highest.value)


def within_premises(outcome: Outcome, test: Any, summary: Summary) -> Outcome:
    """No verdict on a statement where no instance in some cell of the test meets its premises."""
    cells = [getattr(test, name) for name in ("cell", "greater", "smaller") if hasattr(test, name)]
    if isinstance(test, Holds | Exists):
        cells = summary.cells(test.variant)
    if all(premises(summary, cell).any() for cell in cells):
        return outcome
    evidence = f"no instance meets the statement's premises; without them: {outcome.evidence}"
    return replace(
        outcome, evidence=evidence, verdict=OUTSIDE, p_for=None, p_against=None,
        counterexample=None,
    )  # fmt: skip
