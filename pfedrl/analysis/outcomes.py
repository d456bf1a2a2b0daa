"""What a comparison found, seed by seed, and how strong the evidence is either way."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfedrl.analysis.evidence import MOST, most_seeds, on_average
from pfedrl.analysis.output import short
from pfedrl.analysis.statistics import effect

NOT_RUN = "not run"
OUTSIDE = "outside its assumptions"
ROUNDING = 1e-9  # nearer to zero than this is zero
KEPT = 100  # seeds whose differences are kept for a plot, at most


Claimed = tuple[float | None, float | None]  # the least and the most that is claimed


@dataclass(frozen=True)
class Sample:
    """A comparison: a value for each seed, and which values are on the claim's side.

    `unknown` marks seeds that cannot be judged, because a run ended before it reached a target.
    """

    label: str  # what is subtracted from what
    metric: str
    values: np.ndarray
    claimed: Claimed
    reach: float = np.inf  # the furthest that a value can be from a bound
    unknown: np.ndarray | None = None
    strict: bool = True  # a value at a bound is a tie; otherwise it is on the claim's side
    outside: bool = False  # the values that are not between the bounds are claimed
    undefined: str = ""  # why seeds without a value may be left out

    def margins(self) -> list[np.ndarray]:
        """How far each seed is on the claim's side of each bound."""
        low, high = self.claimed
        below = [] if high is None else [high - self.values]
        return below if low is None else [self.values - low, *below]

    def words(self) -> str:
        """What is claimed, unless it is a plain order."""
        low, high = (None if bound is None else short(bound) for bound in self.claimed)
        if self.strict and "0" in (low, high):
            return ""
        if low is not None and high is not None:
            return f"; claimed: {'not ' if self.outside else ''}{low} to {high}"
        return f"; claimed: at least {low}" if high is None else f"; claimed: at most {high}"


@dataclass(frozen=True)
class Outcome:
    """What a comparison found: e-values for and against, seeds won and lost, the effect.

    What is counted or computed, and so needs no test, has the largest e-value that there is.
    """

    words: str
    seeds: int
    e_for: float = 1.0
    e_against: float = 1.0
    label: str = ""
    metric: str = ""
    won: int = 0
    lost: int = 0
    tied: int = 0
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    other: float | None = None  # the e-value for, by the question that the claim does not ask
    status: str = ""  # why there is none: not run, outside its assumptions
    exact: bool = False
    claimed: Claimed = (None, None)
    differences: list[float] = field(default_factory=list)
    counterexample: dict[str, Any] | None = None

    @property
    def lean(self) -> float:
        """Which way it points, and how far: for sorting."""
        return float(np.log(max(self.e_for, 1e-300)) - np.log(max(self.e_against, 1e-300)))


def exactly(words: str, seeds: int, holds: bool | None, **facts: Any) -> Outcome:
    """What needs no test: it holds, it fails, or (None) it says nothing."""
    e_for, e_against = {True: (MOST, 0.0), False: (0.0, MOST), None: (1.0, 1.0)}[holds]
    return Outcome(words, seeds, e_for, e_against, exact=True, **facts)


def judged(sample: Sample, average: bool = False) -> Outcome:
    """The evidence of a sample: on most seeds, or on the mean over seeds."""
    finite = np.isfinite(sample.values)
    count, left = len(finite), int(finite.sum())
    if left == 0 or (left < count and not sample.undefined):
        return Outcome(f"{count - left:,} of {count:,} seeds have no value", count)
    margins = [margin[finite] for margin in sample.margins()]
    least = np.min(margins, axis=0)
    won = least > ROUNDING if sample.strict else least >= -ROUNDING
    lost = least < -ROUNDING
    if sample.unknown is not None:
        won, lost = (which & ~sample.unknown[finite] for which in (won, lost))
    if sample.outside:
        won, lost = lost, won
    wins, losses = int(won.sum()), int(lost.sum())
    by_seed = most_seeds(wins, losses), most_seeds(losses, wins)
    by_mean = None
    if np.isfinite(sample.reach) and (sample.unknown is None or not sample.unknown.any()):
        by_mean = (
            min(on_average(margin, sample.reach) for margin in margins),
            float(np.mean([on_average(-margin, sample.reach) for margin in margins])),
        )
        by_mean = by_mean[::-1] if sample.outside else by_mean
    if average and by_mean is None:
        return Outcome(f"{sample.label}: the range of its mean is not known", count)
    asked, other = (by_mean, by_seed) if average else (by_seed, by_mean)
    assert asked is not None
    values = sample.values[finite]
    size = effect(values)
    tied = left - wins - losses
    words = (
        f"{sample.label} = {short(size.mean)} (95% CI {short(size.low)} to {short(size.high)}"
        f"{sample.words()}); seeds: {wins:,} for, {losses:,} against"
        f"{f', {tied:,} tied' if tied else ''}"
    )
    if left < count:
        words += f"; {count - left:,} of {count:,} seeds have no value ({sample.undefined})"
    kept = [float(f"{value:.4g}") for value in values] if left <= KEPT else []
    return Outcome(
        words, count, *asked, label=sample.label, metric=sample.metric, won=wins, lost=losses,
        tied=tied, effect=size.mean, low=size.low, high=size.high,
        other=None if other is None else other[0], differences=kept,
        claimed=(None, None) if sample.outside else sample.claimed,
    )  # fmt: skip
