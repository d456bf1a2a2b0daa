"""Statements of the theory on drawn instances: where they hold, and where they fail.

A statement is judged on the instances that meet its premises; one that fails contradicts it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pfedrl.analysis.claim_tests import Question
from pfedrl.analysis.outcomes import OUTSIDE, Outcome, exactly
from pfedrl.analysis.summaries import Summary
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import load_runnable
from pfedrl.pipeline.claim import Asked, Exists, Holds, PrintedLeast, Test
from pfedrl.theory.statement import APPLIES

SIZE = "size"  # the metric by which counterexamples are ordered, where a statement has it


@dataclass(frozen=True)
class Instance:
    """One drawn instance and how it fares."""

    cell: str
    seed: int
    value: float
    size: float | None

    def words(self) -> str:
        size = "" if self.size is None else f"size {self.size:g}, "
        return f"seed {self.seed} of {self.cell} ({size}metric {self.value:.4g})"


@dataclass(frozen=True)
class Instances:
    """The instances of a variant that meet a statement's premises, for one metric.

    All of them where none does: what they show is shown, and decides nothing.
    """

    drawn: int
    inside: int  # how many of them meet the premises
    cells: np.ndarray
    seeds: np.ndarray
    values: np.ndarray
    sizes: np.ndarray | None

    @property
    def undefined(self) -> int:
        """Instances on which the metric is not a number; they neither hold nor fail."""
        return int((~np.isfinite(self.values)).sum())

    def above(self, bound: float) -> int:
        with np.errstate(invalid="ignore"):
            return int((self.values > bound).sum())

    def below(self, bound: float) -> int:
        with np.errstate(invalid="ignore"):
            return int((self.values < bound).sum())

    def at(self, index: int) -> Instance:
        size = None if self.sizes is None else float(self.sizes[index])
        return Instance(
            str(self.cells[index]), int(self.seeds[index]), float(self.values[index]), size
        )

    def lowest(self) -> Instance:
        return self.at(int(np.nanargmin(self.values)))

    def highest(self) -> Instance:
        return self.at(int(np.nanargmax(self.values)))

    def smallest_below(self, bound: float) -> Instance:
        """Of the instances below a bound the smallest in size, then the furthest below."""
        failing = np.flatnonzero(self.values < bound)
        keys = [self.values[failing]]
        if self.sizes is not None:
            keys.append(self.sizes[failing])
        return self.at(int(failing[np.lexsort(keys)[0]]))


def instances(summary: Summary, variant: str, metric: str) -> Instances:
    """The instances of every cell of a variant."""
    cells = summary.cells(variant)
    seeds = np.arange(summary.seeds.start, summary.seeds.stop)
    sized = all(summary.measures(cell, SIZE) for cell in cells)
    meets = np.concatenate([premises(summary, cell) for cell in cells])
    kept = meets if meets.any() else np.full_like(meets, True)
    sizes = [summary.final(cell, SIZE) for cell in cells] if sized else None
    return Instances(
        len(meets),
        int(meets.sum()),
        np.repeat(cells, len(seeds))[kept],
        np.tile(seeds, len(cells))[kept],
        np.concatenate([summary.final(cell, metric) for cell in cells])[kept],
        None if sizes is None else np.concatenate(sizes)[kept],
    )


def premises(summary: Summary, cell: str) -> np.ndarray:
    """Whether each seed's instance meets the statement's premises; what records none has none."""
    if not summary.measures(cell, APPLIES):
        return np.full(len(summary.seeds), True)
    return summary.final(cell, APPLIES) > 0


def rebuild(summary: Summary, found: Instance) -> dict[str, Any]:
    """The instance itself, so that a reader can check it: its seed, its metric, its numbers."""
    settings = dict(summary.facts["cells"][found.cell]["settings"]["algorithm"])
    statement = load_runnable(settings.pop("name")).model_validate(settings)
    return {
        "cell": found.cell,
        "seed": found.seed,
        "metric": found.value,
        "size": found.size,
        "instance": statement.instance(found.seed),
    }


def holds(test: Holds, summary: Summary, asked: Question) -> list[Outcome]:
    drawn = instances(summary, test.variant, test.metric)
    count, undefined = len(drawn.values), drawn.undefined
    among = f" that meet its premises, of {drawn.drawn:,}" if count < drawn.drawn else ""
    failing = drawn.below(-test.tolerance)
    unclear = f"; {undefined:,} are undefined" if undefined else ""
    if undefined == count:
        return [exactly(f"undefined on all {count:,} instances", count, None)]
    lowest = drawn.lowest()
    if failing == 0:
        words = f"holds on {count - undefined:,} of {count:,} instances{among}{unclear}; "
        words += f"tightest: {lowest.words()}"
        return [exactly(words, count, None if undefined else True, effect=lowest.value)]
    found = drawn.smallest_below(-test.tolerance)
    words = (
        f"fails on {failing:,} of {count:,} instances{among} ({failing / count:.1%}){unclear}; "
        f"smallest counterexample: {found.words()}"
    )
    example = rebuild(summary, found)
    return [exactly(words, count, False, effect=lowest.value, counterexample=example)]


def exists(test: Exists, summary: Summary, asked: Question) -> list[Outcome]:
    """That none was found does not show that none exists."""
    drawn = instances(summary, test.variant, test.metric)
    count, found = len(drawn.values), drawn.above(test.above)
    if drawn.undefined == count:
        return [exactly(f"undefined on all {count:,} instances", count, None)]
    highest = drawn.highest()
    words = f"{found:,} of {count:,} instances; the clearest: {highest.words()}"
    if not summary.measures(highest.cell, APPLIES):
        name = asked.name(test.experiment, highest.cell)
        words = (
            f"{name}: {words_of(test.metric)} above {test.above:g} in {found:,} of {count:,} "
            f"seeds; the highest is {highest.value:.4g}"
        )
    return [exactly(words, count, True if found else None, effect=highest.value)]


def within_premises(outcome: Outcome, test: Test, summary: Summary) -> Outcome:
    """No verdict on a statement where no instance in some cell of the test meets its premises."""
    if isinstance(test, PrintedLeast):
        return outcome
    cells = [cell for asked in test.asks() for cell in _cells(summary, asked)]
    if all(premises(summary, cell).any() for cell in cells):
        return outcome
    words = f"no instance meets the statement's premises; if they are ignored: {outcome.words}"
    return replace(
        outcome, words=words, e_for=1.0, e_against=1.0, exact=False, counterexample=None,
        status=OUTSIDE,
    )  # fmt: skip


def _cells(summary: Summary, asked: Asked) -> list[str]:
    return [asked.cell] if asked.cell else summary.cells(asked.variant or "")
