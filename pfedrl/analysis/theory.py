"""Statements of the theory on drawn instances: where they hold, and where they fail.

A statement is judged on the instances that meet its premises; one that fails contradicts it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pfedrl.analysis.claim_tests import Question
from pfedrl.analysis.outcomes import OUTSIDE, ROUNDING, Outcome, exactly
from pfedrl.analysis.summaries import Summary
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import load_runnable
from pfedrl.pipeline.claim import Asked, Exists, Holds, Test
from pfedrl.theory.statement import APPLIES

if TYPE_CHECKING:
    import pandas as pd

SIZE = "size"  # the metric by which counterexamples are ordered, where a statement has it


@dataclass(frozen=True)
class Instances:
    """The instances of a variant that meet a statement's premises, for one metric.

    All of them where none does: what they show is shown, and decides nothing. Those on which the
    metric is not a number are `undefined`; they neither hold nor fail.
    """

    drawn: int
    inside: int  # how many of them meet the premises
    table: pd.DataFrame  # cell, seed, value, and size where the statement has one

    @property
    def undefined(self) -> int:
        return int((~np.isfinite(self.table["value"])).sum())

    def above(self, bound: float) -> int:
        return int((self.table["value"] > bound).sum())

    def below(self, bound: float) -> int:
        return int((self.table["value"] < bound).sum())

    def lowest(self) -> pd.Series:
        return self.table.iloc[self.table["value"].argmin()]

    def highest(self) -> pd.Series:
        return self.table.iloc[self.table["value"].argmax()]

    def smallest_below(self, bound: float) -> pd.Series:
        """Of the instances below a bound the smallest in size, then the furthest below."""
        failing = self.table[self.table["value"] < bound]
        return failing.sort_values(["size", "value"], kind="stable").iloc[0]


def instances(summary: Summary, variant: str, metric: str) -> Instances:
    """The instances of every cell of a variant."""
    import pandas as pd

    cells = summary.cells(variant)
    sized = all(summary.measures(cell, SIZE) for cell in cells)
    table = pd.concat(
        [
            pd.DataFrame(
                {
                    "cell": cell,
                    "seed": summary.seeds,
                    "value": summary.final(cell, metric),
                    "size": summary.final(cell, SIZE) if sized else np.nan,
                    "inside": premises(summary, cell),
                }
            )
            for cell in cells
        ],
        ignore_index=True,
    )
    inside = int(table["inside"].sum())
    return Instances(len(table), inside, table[table["inside"]] if inside else table)


def size_of(found: pd.Series) -> float | None:
    """The size of a drawn instance, where the statement has one."""
    return None if np.isnan(found["size"]) else float(found["size"])


def in_words(found: pd.Series) -> str:
    """One drawn instance and how it fares."""
    size = size_of(found)
    sized = "" if size is None else f"size {size:g}, "
    return f"seed {found['seed']} of {found['cell']} ({sized}metric {found['value']:.4g})"


def premises(summary: Summary, cell: str) -> np.ndarray:
    """Whether each seed's instance meets the statement's premises; what records none has none."""
    if not summary.measures(cell, APPLIES):
        return np.full(len(summary.seeds), True)
    return summary.final(cell, APPLIES) > 0


def rebuild(summary: Summary, found: pd.Series) -> dict[str, Any]:
    """The instance itself, so that a reader can check it: its seed, its metric, its numbers."""
    settings = dict(summary.algorithm(found["cell"]))
    statement = load_runnable(settings.pop("name")).model_validate(settings)
    return {
        "cell": found["cell"],
        "seed": int(found["seed"]),
        "metric": float(found["value"]),
        "size": size_of(found),
        "instance": statement.instance(int(found["seed"])),
    }


def holds(test: Holds, summary: Summary, asked: Question) -> list[Outcome]:
    drawn = instances(summary, test.variant, test.metric)
    count, undefined = len(drawn.table), drawn.undefined
    among = f" that meet its premises, of {drawn.drawn:,}" if count < drawn.drawn else ""
    failing = drawn.below(-ROUNDING)
    unclear = f"; {undefined:,} are undefined" if undefined else ""
    if undefined == count:
        return [exactly(f"undefined on all {count:,} instances", count, None)]
    lowest = drawn.lowest()
    tightest = float(lowest["value"])
    if failing == 0:
        words = f"holds on {count - undefined:,} of {count:,} instances{among}{unclear}; "
        words += f"tightest: {in_words(lowest)}"
        return [exactly(words, count, None if undefined else True, effect=tightest)]
    found = drawn.smallest_below(-ROUNDING)
    words = (
        f"fails on {failing:,} of {count:,} instances{among} ({failing / count:.1%}){unclear}; "
        f"smallest counterexample: {in_words(found)}"
    )
    example = rebuild(summary, found)
    return [exactly(words, count, False, effect=tightest, counterexample=example)]


def exists(test: Exists, summary: Summary, asked: Question) -> list[Outcome]:
    """That none was found does not show that none exists."""
    drawn = instances(summary, test.variant, test.metric)
    count, found = len(drawn.table), drawn.above(test.above)
    if drawn.undefined == count:
        return [exactly(f"undefined on all {count:,} instances", count, None)]
    highest = drawn.highest()
    most = float(highest["value"])
    words = f"{found:,} of {count:,} instances; the clearest: {in_words(highest)}"
    if not summary.measures(highest["cell"], APPLIES):
        name = asked.name(test.experiment, highest["cell"])
        words = (
            f"{name}: {words_of(test.metric)} above {test.above:g} in {found:,} of {count:,} "
            f"seeds; the highest is {most:.4g}"
        )
    return [exactly(words, count, True if found else None, effect=most)]


def within_premises(outcome: Outcome, test: Test, summary: Summary) -> Outcome:
    """No verdict on a statement where no instance in some cell of the test meets its premises."""
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
