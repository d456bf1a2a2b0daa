"""What was found in the published runs, in sentences whose numbers are computed.

A text names its numbers in braces: {rep} is the mean over seeds of what `numbers` says of rep,
{rep.se} its standard error, {rep:.1f} the mean with one decimal. Nothing that a run produced is
typed. What its words say of them, that one is larger, stands in `holds` as well: where runs say
otherwise the finding is left out until somebody writes it anew.
"""

import re
from collections.abc import Iterator
from string import Formatter
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings

# what may stand behind the dot: of the values by seed, of a curve, of several cells, of a setting
STATISTICS = {
    "mean": "over seeds, which is what a name alone says; over the points of a curve's part",
    "se": "its standard error",
    "median": "of the seeds",
    "min": "the lowest seed",
    "max": "the highest seed",
    "second": "the second highest seed",
    "but_lowest": "the mean without the lowest seed",
    "seeds": "how many there are",
    "above": "how many are above zero",
    "below": "how many are below zero",
    "share_below": "how many percent are below zero",
    "agents": "from the lowest to the highest agent, each averaged over seeds",
    "lowest": "of the curve of means",
    "lowest_at": "where that is",
    "highest": "of the curve of means",
    "highest_at": "where that is",
    "place": "of the first cell among all that are named, by means: first, second, ...",
    "cells": "how many are named, as a word",
    "cells_above": "how many have a mean above zero, as a word",
    "cells_below": "how many have a mean below zero, as a word",
    "list": "the mean of each cell, in the order in which they are named",
    "printed": "what the paper prints in its place",
    "paper": "the setting at the papers' scale",
}


class Number(Settings):
    """Values of runs, one a seed; or a setting of theirs; or how many claims have a verdict."""

    experiment: str | list[str] | None = Field(
        None, description="the finding's, where it is left out; several are looked at in turn"
    )
    cell: str | list[str] | None = Field(
        None, description="several are shown from the lowest mean to the highest"
    )
    metric: str | None = Field(
        None, description="its final value; the finding's, where it is left out"
    )
    less: str | list[str] | None = Field(
        None, description="a cell that is subtracted, seed by seed, or one for each of the cells"
    )
    first: int | None = Field(None, gt=0, description="only so many seeds, the first, count")
    where: str | None = Field(
        None, description="a metric: only seeds in which it is above zero count"
    )
    along: str | None = Field(
        None, description="a swept key, of the variant that `cell` names: the power p in metric ~ "
        "key^p, one a seed"
    )  # fmt: skip
    since: float | None = Field(None, description="the part of the curve that is looked at")
    until: float | None = None
    scale: str | None = Field(None, description="the record, where it is left out")
    setting: str | None = Field(None, description="of the cell's algorithm or family")
    verdict: Literal["replicated", "contradicted", "open"] | None = Field(
        None, description="counts the paper's claims on the experiment that have this badge"
    )

    @model_validator(mode="after")
    def one_thing_is_asked(self) -> "Number":
        if self.verdict is None and self.cell is None:
            raise ValueError("'cell' is missing")
        asked = [key for key in ("metric", "setting", "verdict") if getattr(self, key) is not None]
        if len(asked) > 1:
            raise ValueError(f"{' and '.join(asked)} cannot be combined")
        if isinstance(self.less, list) and len(self.less) != len(self.cells):
            raise ValueError("'less' and 'cell' must have the same number of cells")
        by_seed = [key for key in ("less", "first", "where", "along") if getattr(self, key)]
        if by_seed and (self.since is not None or self.until is not None):
            raise ValueError(
                f"'{by_seed[0]}' needs final values, so it excludes 'since' and 'until'"
            )
        return self

    @property
    def cells(self) -> list[str]:
        return _listed(self.cell)

    @property
    def pairs(self) -> list[tuple[str, str | None]]:
        """Each cell with the one that is subtracted from it."""
        others = self.less if isinstance(self.less, list) else [self.less] * len(self.cells)
        return list(zip(self.cells, others, strict=True))


class Placeholder(NamedTuple):
    """{name.statistic:spec} in a text."""

    name: str
    statistic: str
    spec: str


class Relation(NamedTuple):
    """That all of the left lie below, or above, all of the right."""

    left: Placeholder | float
    sign: str
    right: Placeholder | float

    @property
    def placeholders(self) -> list[Placeholder]:
        return [side for side in (self.left, self.right) if isinstance(side, Placeholder)]


class Finding(Settings):
    """What was found, with the numbers that say so."""

    id: Name
    title: str = Field(description="what it is about; it may have numbers, too")
    text: str
    headline: str = Field("", description="in one or two sentences, for the README")
    see: list[str] = Field(default_factory=list, description="the artifacts that show it")
    experiment: str | None = Field(None, description="of numbers that name none")
    metric: str | None = Field(None, description="of numbers that name none")
    numbers: dict[Name, Number] = Field(default_factory=dict)
    holds: list[str] = Field(
        default_factory=list,
        description="what its words say of the numbers, as in `rep < fed` and `late.max > 0`",
    )

    @model_validator(mode="after")
    def numbers_are_whole(self) -> "Finding":
        for name, number in self.numbers.items():
            if not self.experiments_of(number):
                raise ValueError(f"numbers.{name}: 'experiment' is missing")
            if number.setting is None and number.verdict is None and not self.metric_of(number):
                raise ValueError(f"numbers.{name}: 'metric' is missing")
        list(self.placeholders())
        return self

    def experiments_of(self, number: Number) -> list[str]:
        return _listed(number.experiment or self.experiment)

    def metric_of(self, number: Number) -> str:
        return number.metric or self.metric or ""

    def placeholders(self) -> Iterator[Placeholder]:
        for text in (self.title, self.text, self.headline):
            yield from (found for _, found in pieces(text) if found is not None)
        for words in self.holds:
            yield from relation(words).placeholders


def relation(words: str) -> Relation:
    found = re.fullmatch(r"(\S+) ([<>]) (\S+)", words)
    if found is None:
        raise ValueError(f"holds: '{words}' should have the form 'rep < fed'")
    return Relation(_side(found[1]), found[2], _side(found[3]))


def _side(said: str) -> Placeholder | float:
    try:
        return float(said)
    except ValueError:
        return _placeholder(said)


def pieces(text: str) -> Iterator[tuple[str, Placeholder | None]]:
    """A text as words, each with the number that follows."""
    for words, field, spec, _ in Formatter().parse(text):
        if field is None:
            yield words, None
        else:
            yield words, _placeholder(field, spec or "")


def _placeholder(said: str, spec: str = "") -> Placeholder:
    name, _, statistic = said.partition(".")
    return Placeholder(name, statistic or "mean", spec)


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names or [])
