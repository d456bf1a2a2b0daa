"""What a comparison found, and how differences by seed are judged: against a rule, at a level."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pfedrl.analysis.evidence import LEVEL, p_above, p_within, seeds_needed, worst_without_one
from pfedrl.analysis.output import short
from pfedrl.analysis.statistics import effect

REPRODUCED = "reproduced"
CONTRADICTED = "contradicted"
UNDECIDED = "undecided"
NOT_RUN = "not run"
OUTSIDE = "outside its assumptions"
ROUNDING = 1e-9  # nearer to zero than this is zero


@dataclass(frozen=True)
class Outcome:
    """What a comparison found. One on seeds has p values; one on instances has its verdict."""

    evidence: str
    seeds: int
    verdict: str | None = None
    p_for: float | None = None  # that the claim is true; to be compared with LEVEL
    p_against: float | None = None  # that its opposite is
    p_for_without: float | None = None  # the largest when any one seed is left out
    p_against_without: float | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    apart: "Apart | None" = None
    may_hold: bool = True  # False where no seeds could show it
    may_fail: bool = True
    counterexample: dict[str, Any] | None = None

    def seeds_to_hold(self) -> int | None:
        """At how many seeds like those seen it would hold; None where it would not."""
        if self.apart is None or not self.may_hold or self.apart.distance <= 0:
            return None
        return self.apart.seeds_needed()

    def seeds_to_fail(self, tests: int) -> int | None:
        """At how many it would be clearly reversed, as one of a claim's tests."""
        if self.apart is None or not self.may_fail or self.apart.distance >= 0:
            return None
        return self.apart.seeds_needed(tests * self.apart.ways)


class Apart(NamedTuple):
    """How far a mean is from where the claim would turn, from which follows what it would take."""

    distance: float  # of the weakest contrast; negative on the wrong side
    spread: float  # between seeds
    seeds: int
    ways: int  # in which it can be reversed: contrasts, times sides
    error: float = 0.0  # of the number it is compared with
    furthest: float = 0.0  # seed, from the mean

    @classmethod
    def of(cls, values: np.ndarray, distance: float, ways: int, error: float = 0.0) -> "Apart":
        spread, furthest = float(values.std(ddof=1)), float(np.abs(values - values.mean()).max())
        return cls(distance, spread, len(values), ways, error, furthest)

    def seeds_needed(self, times: int = 1) -> int | None:
        return seeds_needed(
            self.distance, self.spread, self.seeds, times, self.error, self.furthest
        )


class Contrast(NamedTuple):
    """A difference by seed that a claim speaks of."""

    label: str
    differences: np.ndarray


class Rule(NamedTuple):
    """What a claim says of a mean: P values for and against (of values, at a look), how far the
    mean is from where it would turn, and the same in words."""

    p_for: Callable[[np.ndarray, int | None], float]
    p_against: Callable[[np.ndarray, int | None], float]
    distance: Callable[[float], float]
    words: str
    sides: int = 1


def above(bound: float = 0.0) -> Rule:
    return Rule(
        lambda d, at: float(p_above(d, bound, at=at)),
        lambda d, at: float(p_above(-d, -bound, at=at)),
        lambda mean: mean - bound,
        f"must exceed {short(bound)}" if bound else "",
    )


def below(bound: float) -> Rule:
    return Rule(
        lambda d, at: float(p_above(-d, -bound, at=at)),
        lambda d, at: float(p_above(d, bound, at=at)),
        lambda mean: bound - mean,
        f"must be below {short(bound)}",
    )


def within(margin: float, error: float = 0.0) -> Rule:
    """The mean lies between minus and plus the margin; against: on one side or the other."""
    return Rule(
        lambda d, at: float(p_within(d, margin, error, at=at)),
        lambda d, at: min(
            1.0,
            2 * float(min(p_above(d, margin, error, at=at), p_above(-d, margin, error, at=at))),
        ),
        lambda mean: margin - abs(mean),
        f"must lie within {short(margin)} of 0",
        sides=2,
    )


def judged(
    contrasts: Sequence[Contrast], rule: Rule, unit: str = "paired seeds", undefined: str = ""
) -> Outcome:
    """All contrasts must hold (intersection-union); one that is reversed contradicts (Bonferroni).

    The effect shown is the weakest contrast's. Where a seed has no value its mean does not exist,
    so nothing is concluded, unless the claim says why it may be left out.
    """
    finite = np.all([np.isfinite(c.differences) for c in contrasts], axis=0)
    seeds, left = len(finite), int(finite.sum())
    if left == 0:
        return Outcome(f"none of {seeds:,} seeds has a value", seeds, UNDECIDED)
    kept = [c.differences[finite] for c in contrasts]

    def p_for(samples: Sequence[np.ndarray], at: int | None) -> float:
        return max(rule.p_for(sample, at) for sample in samples)

    def p_against(samples: Sequence[np.ndarray], at: int | None) -> float:
        return min(1.0, len(samples) * min(rule.p_against(sample, at) for sample in samples))

    sizes = [effect(sample) for sample in kept]
    weakest = int(np.argmin([rule.distance(size.mean) for size in sizes]))
    size = sizes[weakest]
    margins = np.array([rule.distance(float(value)) for value in kept[weakest]])
    won, lost = int((margins > ROUNDING).sum()), int((margins < -ROUNDING).sum())
    evidence = (
        f"{'weakest of ' + str(len(kept)) + ' comparisons: ' if len(kept) > 1 else ''}"
        f"{contrasts[weakest].label} = {short(size.mean)} (95% CI {short(size.low)} to "
        f"{short(size.high)}{rule.words and f'; {rule.words}'}), {left:,} {unit} "
        f"({won:,} for, {lost:,} against)"
    )
    found = Outcome(evidence, seeds, effect=size.mean, low=size.low, high=size.high)
    if left > 1:
        apart = Apart.of(kept[weakest], rule.distance(size.mean), len(kept) * rule.sides)
        found = replace(found, apart=apart)
    if left < seeds:
        evidence += f"; {seeds - left:,} of {seeds:,} seeds have no value"
        if not undefined:
            return replace(found, evidence=evidence, verdict=UNDECIDED)
        found = replace(found, evidence=f"{evidence} ({undefined})")
    speaks_for, against = p_for(kept, None), p_against(kept, None)
    return replace(
        found,
        p_for=speaks_for,
        p_against=against,
        p_for_without=worst_without_one(kept, p_for) if speaks_for < LEVEL else speaks_for,
        p_against_without=worst_without_one(kept, p_against) if against < LEVEL else against,
    )


def without(outcome: Outcome, *, p_for: bool = False, p_against: bool = False) -> Outcome:
    """An outcome that cannot speak for its claim, or not against it."""
    if outcome.p_for is None:
        return outcome
    if p_for:
        outcome = replace(outcome, p_for=1.0, p_for_without=1.0, may_hold=False)
    if p_against:
        outcome = replace(outcome, p_against=1.0, p_against_without=1.0, may_fail=False)
    return outcome
