"""Tests of claims, one function for each kind: from final values to an outcome.

A value may be a time to a target. Some runs end before they reach it.
"""

from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from pfedrl.analysis.evidence import LEVEL, p_share, worst_without_one
from pfedrl.analysis.outcomes import (
    CONTRADICTED,
    REPRODUCED,
    UNDECIDED,
    Apart,
    Contrast,
    Outcome,
    above,
    below,
    judged,
    within,
    without,
)
from pfedrl.analysis.output import short
from pfedrl.analysis.statistics import exponents, paired_differences
from pfedrl.analysis.summaries import Summary, sweep_name
from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.claim import (
    Best,
    Equivalent,
    Greater,
    Monotone,
    Near,
    Ordered,
    Share,
    Slope,
)


def contrast(summary: Summary, label: str, larger: str, smaller: str, metric: str) -> Contrast:
    return Contrast(
        label, paired_differences(summary.final(larger, metric), summary.final(smaller, metric))
    )


def monotone(test: Monotone, summary: Summary) -> Outcome:
    """From the first point to the last, with no step that clearly goes the other way."""
    points = summary.points_along(test.variant, test.along)
    if test.points:
        points = {point: points[point] for point in map(float, test.points)}
    if len(points) < 2:
        raise PfedrlError(f"{test.experiment}: '{test.variant}' needs two points of {test.along}.")
    key = sweep_name(test.along)

    def fall(before: float, after: float) -> Contrast:
        ends = (before, after) if test.direction == "falls" else (after, before)
        label = f"{test.variant}, {key}={ends[0]:g} minus {key}={ends[1]:g}"
        return contrast(summary, label, points[ends[0]], points[ends[1]], test.metric)

    order = list(points)
    whole = judged([fall(order[0], order[-1])], above())
    steps = judged([fall(before, after) for before, after in pairwise(order)], above())
    reversals = []  # as a whole, or in one of its steps; with all seeds, and without any one
    for part in (steps, whole):
        if part.p_against is None or part.p_against_without is None:  # a seed has no value
            return part
        reversals.append((part.p_against, part.p_against_without))
    against, against_without = (min(1.0, 2 * min(p)) for p in zip(*reversals, strict=True))
    if reversals[0][0] < LEVEL:
        whole = without(whole, p_for=True)
        whole = replace(whole, evidence=f"{whole.evidence}; but one step is clearly reversed")
    return replace(whole, p_against=against, p_against_without=against_without)


def greater_cell(test: Greater, summary: Summary) -> Outcome:
    larger_metric = test.greater_metric or test.metric
    names = [test.greater, test.smaller]
    if larger_metric != test.metric:
        names = [f"{larger_metric} of {test.greater}", f"{test.metric} of {test.smaller}"]
    label = f"{names[0]} minus {'' if test.factor == 1 else f'{test.factor:g} times '}{names[1]}"
    large, small = (
        times(summary, cell, metric, test.reached, test.ends, test.agent)
        for cell, metric in ((test.greater, larger_metric), (test.smaller, test.metric))
    )
    if test.agent is not None:
        label = f"{label} (agent {test.agent})"
    if test.of_agents == "worst":
        label = f"{label} (worst agent of each)"
        large, small = (
            plain(summary.worst(cell, metric))
            for cell, metric in ((test.greater, larger_metric), (test.smaller, test.metric))
        )
    elif test.factor == 1:
        large, small = large.restricted(small.ends), small.restricted(large.ends)
    first, second = large.values, test.factor * small.values
    befores = [summary.final(cell, test.metric) for cell in test.since or ()]
    if test.scale == "log":
        label = f"{label} (natural logarithms)"
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second, *befores = map(np.log, (first, second, *befores))
    if befores:
        label = f"{label} (changes from {' and '.join(test.since or ())})"
        first, second = first - befores[0], second - befores[1]
    differences = paired_differences(first, second)
    if test.counted:
        holds, fails = differences > test.margin, differences < test.margin
        return counted(Contrast(label, differences), holds, fails, test.counted)
    outcome = judged([Contrast(label, differences)], above(test.margin), undefined=test.undefined)
    missed = (int((~large.reached).sum()), int((~small.reached).sum()))
    if not any(missed):
        return outcome
    words = (
        f"{missed[0]:,} and {missed[1]:,} of {len(differences):,} runs, respectively, never "
        "reached the target"
    )
    outcome = replace(outcome, evidence=f"{outcome.evidence}; {words}")
    if test.factor == 1:  # a mean of times up to the end of training is a mean like any other
        return outcome
    # a run that ended too early gives a lower bound of its time, and no upper one
    return without(outcome, p_for=missed[1] > 0, p_against=missed[0] > 0)


def best(test: Best, summary: Summary) -> Outcome:
    """The paper's best point against every other one of the sweep."""
    points = summary.points_along(test.variant, test.along)
    others = map(float, test.points) if test.points else iter(points)
    key = sweep_name(test.along)
    highest = points[float(test.best)]
    contrasts = [
        contrast(
            summary,
            f"{test.variant}, {key}={test.best:g} minus {key}={other:g}",
            highest,
            points[other],
            test.metric,
        )
        for other in others
        if other != float(test.best)
    ]
    return judged(contrasts, above())


def equivalent_cells(test: Equivalent, summary: Summary) -> Outcome:
    contrasts = [
        contrast(summary, f"{first} minus {second}", first, second, test.metric)
        for first, second in combinations(test.cells, 2)
    ]
    return judged(contrasts, within(test.margin))


def near(test: Near, summary: Summary) -> Outcome:
    """Whether the mean is within the margin of the value: one equivalence test, or half of one."""
    found: Times = times(summary, test.cell, test.metric, test.reached, test.ends, test.agent)
    missed = int((~found.reached).sum())
    # a time that was not reached is a lower bound: it can be too long, but not too short
    side = "below" if missed and test.side == "both" else test.side
    rules = {"both": within(test.margin), "below": below(test.margin), "above": above(-test.margin)}
    label = f"{test.metric} of {test.cell} minus {test.value:g}"
    apart = Contrast(label, found.values - test.value)
    if test.counted:
        sides = {"both": np.abs, "below": np.positive, "above": np.negative}
        off = sides[side](apart.differences)
        return counted(apart, off <= test.margin, off > test.margin, test.counted)
    outcome = judged([apart], rules[side], unit="seeds")
    if not missed:
        return outcome
    words = f"{missed:,} of {len(found.values):,} runs never reached the target"
    outcome = replace(outcome, evidence=f"{outcome.evidence}; {words}")
    return without(outcome, p_for=test.side != "above", p_against=test.side == "above")


def counted(found: Contrast, holds: np.ndarray, fails: np.ndarray, why: str) -> Outcome:
    """What follows from settings and not from learning needs no test, but all seeds must agree."""
    low, high = found.differences.min(), found.differences.max()
    verdict = REPRODUCED if holds.all() else CONTRADICTED if fails.all() else UNDECIDED
    size = short(low) if low == high else f"{short(low)} to {short(high)}"
    seeds = len(found.differences)
    evidence = f"{found.label} = {size} in {seeds:,} seeds; no test needed: {why}"
    return Outcome(evidence, seeds, verdict, effect=float(found.differences.mean()))


def share(test: Share, summary: Summary) -> Outcome:
    """Exact binomial, both ways."""
    values = summary.final(test.cell, test.metric)
    count = len(values)
    if not np.isin(values, (0.0, 1.0)).all():
        return Outcome(
            f"{test.metric} of {test.cell} is not 0 or 1 in every seed", count, UNDECIDED
        )
    speaks_for, against = p_share(values, test.at_least)

    def without_one(side: int) -> float:
        return worst_without_one(
            [values], lambda samples, at: p_share(samples[0], test.at_least, at)[side]
        )

    return Outcome(
        f"{int(values.sum()):,} of {count:,} seeds; the claim is at least {test.at_least:.0%}",
        count,
        p_for=speaks_for,
        p_against=against,
        p_for_without=without_one(0),
        p_against_without=without_one(1),
        effect=float(values.mean()),
        apart=Apart(
            float(values.mean()) - test.at_least,
            (test.at_least * (1 - test.at_least)) ** 0.5,
            count,
            ways=1,
        ),
    )


def slope(test: Slope, summary: Summary) -> Outcome:
    """Whether the mean exponent is near the paper's. A bound in a value's place decides nothing."""
    points = summary.points_along(test.variant, test.along)
    values = np.stack([summary.final(cell, test.metric) for cell in points.values()])
    found = exponents(np.array(list(points)), values)
    label = f"exponent of {test.metric} in {sweep_name(test.along)} minus {test.value:g}"
    outcome = judged([Contrast(label, found - test.value)], within(test.margin), unit="seeds")
    if test.reached is None:
        return outcome
    reached = np.stack([summary.final(cell, test.reached) for cell in points.values()])
    missed = int((reached == 0).sum())
    if missed == 0:
        return outcome
    evidence = f"{outcome.evidence}; {missed} of {reached.size} runs never reached the target"
    return without(replace(outcome, evidence=evidence), p_for=True, p_against=True)


def ordered(test: Ordered, summary: Summary) -> Outcome:
    """Each seed's Kendall tau between the paper's order and ours."""
    values = np.stack([summary.final(cell, test.metric) for cell in test.cells])
    finite = np.isfinite(values).all(axis=0)
    pairs = [np.sign(values[i] - values[j]) for i, j in combinations(range(len(values)), 2)]
    taus = np.where(finite, np.mean(pairs, axis=0), np.nan)
    contrasts = [Contrast("Kendall's tau with the paper's order", taus)]
    return judged(contrasts, above(test.at_least), unit="seeds")


@dataclass(frozen=True)
class Times:
    """Values by seed. Where one was not reached, it is the time at which the run ended."""

    values: np.ndarray
    reached: np.ndarray  # True everywhere for what is not a time
    ends: np.ndarray  # when runs ended; infinite where that is not known

    def restricted(self, ends: np.ndarray) -> "Times":
        """Times up to another run's end as well, so that means of both are of the same span."""
        return replace(
            self,
            values=np.minimum(self.values, ends),
            reached=self.reached & (self.values <= ends),
        )


def plain(values: np.ndarray) -> Times:
    """What is no time, or always reached."""
    return Times(values, np.ones(values.shape, bool), np.full(values.shape, np.inf))


def times(
    summary: Summary,
    cell: str,
    metric: str,
    reached: str | None,
    ends: str | None,
    agent: int | None = None,
) -> Times:
    """A metric by seed; `reached`, `ends` and `agent` as a claim gives them for times."""
    which = ALL_AGENTS if agent is None else agent - 1
    values = summary.final(cell, metric, which)
    if reached is not None:
        return replace(plain(values), reached=summary.final(cell, reached, which) != 0)
    if ends is None:
        return plain(values)
    last = summary.last(cell, metric)
    if ends == last["axis"]:
        end = np.full(values.shape, float(last["at"]))
        return Times(values, values <= end, end)
    end = summary.final(cell, ends, which)  # an agent's own time ends with its own run
    return Times(values, values < end, end)
