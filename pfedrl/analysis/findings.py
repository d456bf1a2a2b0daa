"""What was found: the texts of findings.yaml with their numbers, from the published runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pfedrl.analysis.check import flat_settings
from pfedrl.analysis.outcomes import ROUNDING
from pfedrl.analysis.statistics import exponents, standard_error
from pfedrl.analysis.summaries import Summary, read_summary, summaries_folder
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.finding import Finding, Number, Placeholder, pieces, relation
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.served import absent

MINUS = "\N{MINUS SIGN}"
WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
PLACES = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip

OF_SEEDS: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda values: float(values.mean()),
    "se": lambda values: float(standard_error(values)),
    "median": lambda values: float(np.median(values)),
    "min": lambda values: float(values.min()),
    "max": lambda values: float(values.max()),
    "second": lambda values: float(np.sort(values)[-2]),
    "but_lowest": lambda values: float(np.sort(values)[1:].mean()),
    "seeds": len,
    "above": lambda values: int((values > ROUNDING).sum()),
    "below": lambda values: int((values < -ROUNDING).sum()),
    "share_below": lambda values: 100 * float((values < -ROUNDING).mean()),
}
OF_CURVES: dict[str, Callable[[pd.DataFrame], float]] = {
    "mean": lambda curve: float(curve["mean"].mean()),
    "lowest": lambda curve: float(curve["mean"].min()),
    "lowest_at": lambda curve: int(curve["at"].iloc[curve["mean"].argmin()]),
    "highest": lambda curve: float(curve["mean"].max()),
    "highest_at": lambda curve: int(curve["at"].iloc[curve["mean"].argmax()]),
}

OF_CELLS: dict[str, Callable[[Sequence[float]], Sequence[float] | str]] = {  # of their means
    "list": lambda means: means,
    "place": lambda means: PLACES[sum(mean > means[0] for mean in means)],
    "cells_above": lambda means: WORDS[sum(mean > ROUNDING for mean in means)],
    "cells_below": lambda means: WORDS[sum(mean < -ROUNDING for mean in means)],
}


@dataclass(frozen=True)
class Told:
    """A finding in words, or why there is none."""

    finding: Finding
    title: str = ""
    text: str = ""
    headline: str = ""
    missing: str = ""


def tell(project: Project, judged: Mapping[str, dict[str, Any] | None]) -> dict[str, list[Told]]:
    """The findings of every paper, in the order of their files; `judged` has the verdicts."""
    return {
        paper: [Teller(project, paper, judged[paper], finding).told() for finding in page.findings]
        for paper, page in project.papers.items()
    }


def asked_at_other_scales(project: Project) -> list[tuple[str, str, str]]:
    """Paper, experiment and scale of what findings ask for outside the record."""
    asked = {
        (paper, experiment, number.scale)
        for paper, page in project.papers.items()
        for finding in page.findings
        for number in finding.numbers.values()
        for experiment in finding.experiments_of(number)
        if number.scale is not None
    }
    return sorted(asked)


class Lookup(NamedTuple):
    """A number of one cell, or of what it has more than another."""

    number: Number
    experiment: str
    cell: str
    less: str | None


class Teller:
    """One finding, and the summaries that it asks for."""

    def __init__(
        self,
        project: Project,
        paper: str,
        judged: dict[str, Any] | None,
        finding: Finding,
    ):
        self.project, self.paper = project, paper
        self.finding, self.judged = finding, judged
        self._read: dict[tuple[str, str | None], Summary] = {}

    def told(self) -> Told:
        if missing := "; ".join(self._missing()) or "; ".join(self._untrue()):
            return Told(self.finding, missing=missing)
        texts = (self.finding.title, self.finding.text, self.finding.headline)
        return Told(self.finding, *map(self._filled, texts))

    def _missing(self) -> Iterator[str]:
        """What it asks for and was not run."""
        asked = {
            (experiment, number.scale or RECORD): None
            for number in self.finding.numbers.values()
            for experiment in self.finding.experiments_of(number)
        }
        for experiment, scale in asked:
            if (reason := absent(self.project, self.paper, experiment, scale)) is not None:
                yield f"{experiment}: {reason}"

    def _untrue(self) -> Iterator[str]:
        """What its words say and the runs do not."""
        for words in self.finding.holds:
            asked = relation(words)
            left, right = self._side(asked.left), self._side(asked.right)
            if not (max(left) < min(right) if asked.sign == "<" else min(left) > max(right)):
                seen = f"{shown(left, '.4g')} and {shown(right, '.4g')}"
                yield f"it states {words}, but the runs give {seen}; rewrite it in findings.yaml"

    def _side(self, side: Placeholder | float) -> Sequence[float]:
        if isinstance(side, float):
            return [side]
        found = self._found_at(side)
        if isinstance(found, str):
            raise self._error(side, "it is text, not a number")
        return found

    def _filled(self, text: str) -> str:
        said = [words + (self._number(at) if at else "") for words, at in pieces(text)]
        return " ".join("".join(said).split())

    def _number(self, at: Placeholder) -> str:
        found = self._found_at(at)
        try:
            return (
                found if isinstance(found, str) else shown(found, at.spec, at.statistic == "list")
            )
        except ValueError as error:
            raise self._error(at, error) from None

    def _found_at(self, at: Placeholder) -> Sequence[float] | str:
        try:
            return self._found(self.finding.numbers[at.name], at.statistic)
        except (ValueError, IndexError, KeyError) as error:
            raise self._error(at, error) from None

    def _error(self, at: Placeholder, why: object) -> PfedrlError:
        place = f"workflow/papers/{self.paper}/findings.yaml, {self.finding.id}"
        return PfedrlError(f"{place}: {{{at.name}.{at.statistic}}} cannot be computed ({why}).")

    def _found(self, number: Number, statistic: str) -> Sequence[float] | str:
        """The values behind a placeholder, one for each cell that is named, or a word."""
        if number.verdict is not None:
            return [self._verdicts(number.verdict, self.finding.experiments_of(number))]
        named = product(self.finding.experiments_of(number), number.pairs)
        each = [Lookup(number, experiment, *pair) for experiment, pair in named]
        if statistic == "cells":
            return WORDS[len(each)]
        if number.setting is not None:
            return [self._setting(one, statistic == "paper") for one in each]
        if statistic == "printed":
            return [self._printed(one) for one in each]
        if statistic == "agents":
            return [mean for one in each for mean in self._agents(one)]
        of_cells = OF_CELLS.get(statistic)
        each_one = "mean" if of_cells else statistic
        if number.since is not None or number.until is not None or each_one not in OF_SEEDS:
            found = [OF_CURVES[each_one](self._curve(one)) for one in each]
        else:
            found = [OF_SEEDS[each_one](self._values(one)) for one in each]
        return of_cells(found) if of_cells else found

    def _measured(self, asked: Lookup) -> tuple[Summary, str]:
        """Where a number is looked up, and by which metric."""
        summary = self._summary(asked.experiment, asked.number.scale)
        return summary, self.finding.metric_of(asked.number)

    def _values(self, asked: Lookup) -> np.ndarray:
        """One a seed, diverged seeds left out."""
        (summary, metric), number = self._measured(asked), asked.number
        if number.along is not None:
            points = summary.points_along(asked.cell, number.along)
            rows = np.array([summary.final(point, metric) for point in points.values()])
            return exponents(np.array(list(points)), rows)
        values = summary.final(asked.cell, metric)
        if asked.less is not None:
            values = values - summary.final(asked.less, metric)
        if number.where is not None:
            values = values[summary.final(asked.cell, number.where) > 0]
        values = values[: number.first]
        return values[np.isfinite(values)]

    def _curve(self, asked: Lookup) -> pd.DataFrame:
        """The means along the part that is asked for."""
        (summary, metric), number = self._measured(asked), asked.number
        curve = summary.curve(asked.cell, metric)
        since = -np.inf if number.since is None else number.since
        until = np.inf if number.until is None else number.until
        return curve[curve["at"].between(since, until)].reset_index()

    def _agents(self, asked: Lookup) -> list[float]:
        summary, metric = self._measured(asked)
        return [float(values.mean()) for values in summary.by_agent(asked.cell, metric)]

    def _printed(self, asked: Lookup) -> float:
        wanted = (asked.experiment, asked.cell, self.finding.metric_of(asked.number))
        rows = [
            row.value
            for row in self.project.paper(self.paper).printed
            if (row.experiment, row.variant, row.metric) == wanted
        ]
        if not rows:
            raise ValueError(f"the paper prints no {wanted[2]} of {wanted[1]} in {wanted[0]}")
        return float(rows[0])

    def _setting(self, asked: Lookup, of_paper: bool) -> float:
        number, cell = asked.number, asked.cell
        assert number.setting is not None
        if not of_paper:
            summary = self._summary(asked.experiment, number.scale)
            given = summary.facts["cells"][cell]["settings"]
        else:
            made = cells(self.project, self.paper, asked.experiment, None)
            given = next(one.settings() for one in made if one.name == cell)
        return flat_settings(given)[number.setting]

    def _verdicts(self, verdict: str, experiments: list[str]) -> int:
        """How many of the paper's own claims that look at an experiment have a verdict."""
        about = {
            claim.id
            for claim in self.project.paper(self.paper).claims
            for test in claim.tests
            if not claim.ours and test.experiment in experiments
        }
        claims = self.judged["claims"] if self.judged else []
        return sum(one["id"] in about and one["badge"] == verdict for one in claims)

    def _summary(self, experiment: str, scale: str | None) -> Summary:
        if (experiment, scale) not in self._read:
            folder = summaries_folder(self.project, scale or RECORD)
            self._read[experiment, scale] = read_summary(folder, self.paper, experiment)
        return self._read[experiment, scale]


def shown(values: Sequence[float], spec: str = "", in_turn: bool = False) -> str:
    """One value, or all in turn, or from the lowest to the highest."""
    said = [short(value, spec) for value in (values if in_turn else sorted(values))]
    if in_turn and len(said) > 1:
        return f"{', '.join(said[:-1])} and {said[-1]}"
    ends = dict.fromkeys((said[0], said[-1]))
    return " to ".join(ends)


def short(value: float, spec: str = "") -> str:
    """As a sentence has it: whole from 10 on, two digits below."""
    whole = isinstance(value, int) or abs(value) >= 9.95
    said = format(value, spec or (",.0f" if whole else ".2g"))
    if not said.strip("-0.,%"):  # what is rounded to zero has no sign
        said = said.lstrip("-")
    return said.replace("-", MINUS)
