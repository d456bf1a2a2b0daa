"""Tests of claims, one function for each kind: from final values by seed to outcomes.

A value may be a time to a target. A run that ends before it gets there gives a lower bound of its
time; a seed counts only where the bounds decide who was first.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from pfedrl.analysis.evidence import DECIDES, MOST
from pfedrl.analysis.labels import swept_name
from pfedrl.analysis.outcomes import Claimed, Outcome, Sample, exactly, judged
from pfedrl.analysis.output import short
from pfedrl.analysis.statistics import exponents, paired_differences
from pfedrl.analysis.summaries import Summary, sweep_name
from pfedrl.core.errors import PfedrlError
from pfedrl.core.metrics import possible, words_of
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.claim import Equal, Near, Pair, Slope, Trend, Unlike

AXES = ("iteration", "round", "episode", "frame")  # units of training length


@dataclass(frozen=True)
class Question:
    """How a claim asks: of the mean or of most seeds, with what range, and cells' printed names."""

    name: Callable[[str, str], str]  # of an experiment's cell
    average: bool = False
    range: float | None = None  # by which two values can differ; None: as the catalogue has it


def pair(test: Pair, summary: Summary, asked: Question) -> list[Outcome]:
    """The first cell ahead of the second, on the same seeds."""
    metrics = (test.metric, test.second_metric or test.metric)
    names = [asked.name(test.experiment, cell) for cell in (test.first, test.second)]
    if test.first == test.second or metrics[0] != metrics[1]:
        names = [f"{words_of(m)} of {name}" for m, name in zip(metrics, names, strict=True)]
    times = "" if test.factor == 1 else f"{test.factor:g} times "
    label = f"{names[0]} minus {times}{names[1]}"
    first, second = (
        _times(summary, cell, metric, test.reached, test.ends, test.agent)
        for cell, metric in zip((test.first, test.second), metrics, strict=True)
    )
    if test.agent is not None:
        label += f" (agent {test.agent})"
    if test.of_agents == "worst":
        label += " (worst agent of each)"
        first, second = (
            _plain(np.min(summary.by_agent(cell, metric), axis=0))
            for cell, metric in zip((test.first, test.second), metrics, strict=True)
        )
    ours, theirs = first.least, test.factor * second.least
    before = [summary.final(cell, test.metric) for cell in test.changes_from or ()]
    if test.scale == "log":
        label += " (natural logarithms)"
        with np.errstate(divide="ignore", invalid="ignore"):
            ours, theirs, *before = map(np.log, (ours, theirs, *before))
    if before:
        label += " (changes)"
        ours, theirs = ours - before[0], theirs - before[1]
    differences = paired_differences(ours, theirs)
    reach = np.inf
    if test.factor == 1 and test.scale == "linear" and not before:
        reach = _width(summary, test.first, test.metric, asked) + abs(test.margin)
    sample = Sample(
        label, words_of(test.metric), differences,
        (test.margin, None) if test.highest else (None, -test.margin), reach,
        _undecided(first, second, test.factor), undefined=test.undefined,
    )  # fmt: skip
    if test.counted:
        return [_counted(sample, test.counted)]
    found = judged(sample, asked.average)
    return [_with_missed(found, first, second)]


def trend(test: Trend, summary: Summary, asked: Question) -> list[Outcome]:
    """From the first point to the last; a step that is clearly reversed speaks against it."""
    points = summary.points_along(test.variant, test.along)
    if test.points:
        points = {point: points[point] for point in map(float, test.points)}
    if len(points) < 2:
        raise PfedrlError(f"{test.experiment}: '{test.variant}' needs two points of {test.along}.")
    claimed: Claimed = (0.0, None) if test.direction == "rises" else (None, 0.0)
    key = swept_name(sweep_name(test.along))

    def change(start: float, end: float) -> Outcome:
        cells = points[start], points[end]
        name = asked.name(test.experiment, cells[0]).partition(f", {key} ")[0]
        values = paired_differences(*(summary.final(cell, test.metric) for cell in cells[::-1]))
        label = f"{name}, {key} = {end:g} minus {key} = {start:g}"
        reach = _width(summary, cells[0], test.metric, asked)
        sample = Sample(label, words_of(test.metric), values, claimed, reach)
        return judged(sample, asked.average)

    order = list(points)
    whole = change(order[0], order[-1])
    if len(order) == 2:
        return [whole]
    return [whole, *(_as_step(change(start, end)) for start, end in pairwise(order))]


def _as_step(outcome: Outcome) -> Outcome:
    """A step need not go the claim's way, but must not clearly go the other."""
    return replace(outcome, e_for=0.0 if outcome.e_against >= DECIDES else MOST)


def equal(test: Equal, summary: Summary, asked: Question) -> list[Outcome]:
    """Every two cells differ by less than the margin, or where they are unlike by more."""
    found = []
    for one, other in combinations(test.cells, 2):
        values = paired_differences(*(summary.final(c, test.metric) for c in (one, other)))
        label = f"{asked.name(test.experiment, one)} minus {asked.name(test.experiment, other)}"
        reach = _width(summary, one, test.metric, asked) + test.margin
        sample = Sample(
            label, words_of(test.metric), values, (-test.margin, test.margin), reach,
            outside=isinstance(test, Unlike),
        )  # fmt: skip
        found.append(judged(sample, asked.average))
    return found


def near(test: Near, summary: Summary, asked: Question) -> list[Outcome]:
    """A value within the margin of the paper's number, or on one side of it."""
    found = _times(summary, test.cell, test.metric, None, test.ends, test.agent)
    agent = "" if test.agent is None else f" (agent {test.agent})"
    label = f"{words_of(test.metric)} of {asked.name(test.experiment, test.cell)}{agent}"
    low, high = test.value - test.margin, test.value + test.margin
    claimed = None if test.side == "below" else low, None if test.side == "above" else high
    least, most = _bounds(summary, test.cell, test.metric)
    reach = max(abs(least - test.value), abs(most - test.value)) + test.margin
    # a time that was not reached may be anything from its bound on
    unknown = ~found.reached & (found.least < (low if test.side == "above" else high))
    sample = Sample(
        label, words_of(test.metric), found.least, claimed, reach, unknown, strict=False,
    )  # fmt: skip
    if test.counted:
        return [_counted(sample, test.counted)]
    return [_with_missed(judged(sample, asked.average), found)]


def slope(test: Slope, summary: Summary, asked: Question) -> list[Outcome]:
    """The exponent of each seed; one with a bound in a value's place cannot be judged."""
    points = summary.points_along(test.variant, test.along)
    values = np.stack([summary.final(cell, test.metric) for cell in points.values()])
    found = exponents(np.array(list(points)), values)
    unknown = np.zeros(found.shape, bool)
    if test.reached is not None:
        reached = [summary.final(cell, test.reached) for cell in points.values()]
        unknown = (np.stack(reached) == 0).any(axis=0)
    name = asked.name(test.experiment, next(iter(points.values()))).partition(", ")[0]
    key = swept_name(sweep_name(test.along))
    sample = Sample(
        f"exponent of the {words_of(test.metric)} of {name} in {key}", "exponent", found,
        (test.value - test.margin, test.value + test.margin), unknown=unknown, strict=False,
    )  # fmt: skip
    outcome = judged(sample)
    if not unknown.any():
        return [outcome]
    missed = f"in {int(unknown.sum()):,} of {len(unknown):,} seeds a run never reached the target"
    return [replace(outcome, words=f"{outcome.words}; {missed}")]


def _counted(sample: Sample, why: str) -> Outcome:
    """What follows from settings and not from learning needs no test, but all seeds must agree."""
    least = np.min(sample.margins(), axis=0)
    won = least > 0 if sample.strict else least >= 0
    holds = True if won.all() else False if (least < 0).all() else None
    low, high = sample.values.min(), sample.values.max()
    size = short(low) if low == high else f"{short(low)} to {short(high)}"
    words = f"{sample.label} = {size} in {len(least):,} seeds; no test needed: {why}"
    return exactly(
        words, len(least), holds, label=sample.label, metric=sample.metric,
        effect=float(sample.values.mean()),
    )  # fmt: skip


@dataclass(frozen=True)
class Times:
    """Values by seed. Where one was not reached, it is the time at which the run ended."""

    least: np.ndarray
    reached: np.ndarray  # True everywhere for what is not a time


def _plain(values: np.ndarray) -> Times:
    return Times(values, np.ones(values.shape, bool))


def _times(
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
        return Times(values, summary.final(cell, reached, which) != 0)
    if ends is None:
        return _plain(values)
    last = summary.last(cell, metric)
    if ends == last["axis"]:
        end = float(last["at"])
        return Times(np.minimum(values, end), values <= end)
    return Times(values, values < summary.final(cell, ends, which))


def _undecided(first: Times, second: Times, factor: float) -> np.ndarray:
    """Seeds in which a run that ended too early may have been first or second."""
    ours, theirs = first.least, factor * second.least
    later = ~first.reached & ~(ours > theirs)  # ours may still be the shorter or the longer
    earlier = ~second.reached & ~(theirs > ours)
    return (~first.reached & ~second.reached) | later | earlier


def _with_missed(outcome: Outcome, *found: Times) -> Outcome:
    """The outcome with how many runs never reached their target."""
    missed = [int((~one.reached).sum()) for one in found]
    if not any(missed):
        return outcome
    counts = " and ".join(f"{count:,}" for count in missed)
    each = ", respectively," if len(missed) > 1 else ""
    words = f"{counts} of {outcome.seeds:,} runs{each} never reached the target"
    return replace(outcome, words=f"{outcome.words}; {words}")


def _bounds(summary: Summary, cell: str, metric: str) -> tuple[float, float]:
    return possible(metric, summary.family(cell))


def _width(summary: Summary, cell: str, metric: str, asked: Question) -> float:
    """By how much two values of a metric can differ; infinite where that is not known."""
    if asked.range is not None:
        return asked.range
    least, most = _bounds(summary, cell, metric)
    return most - least
