"""From the outcomes of its tests to a verdict on a sentence: evidence, controls, budget, readings.

A sentence is as strong as the least e-value of its comparisons. Against it speaks the mean of the
reversed ones, which is an e-value whatever their dependence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pfedrl.analysis.evidence import DECIDES, MOST, POINTS, fewest, most_seeds
from pfedrl.analysis.outcomes import NOT_RUN, OUTSIDE, ROUNDING, Outcome
from pfedrl.analysis.statistics import paired_differences
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.claim import Claim, Near, Pair, Test

REPLICATED = "replicated"
CONTRADICTED = "contradicted"
HOLDS = "holds at a smaller budget"
FAILS = "fails at a smaller budget"
POINTS_FOR = "points for"
POINTS_AGAINST = "points against"
DEPENDS = "depends on the reading"
OPEN = "open"


class Badge(NamedTuple):
    """How a verdict is shown, and what it means."""

    symbol: str
    meaning: str


BADGES = {  # in the order in which they are listed
    REPLICATED: Badge("✓", "the runs decide for the sentence, at the paper's own training budget"),
    CONTRADICTED: Badge("✗", "the runs decide against it, at the paper's own budget"),
    HOLDS: Badge("✓", "decided for it, after a shorter training than the paper's"),
    FAILS: Badge("✗", "decided against it, after a shorter training"),
    DEPENDS: Badge("⇄", "another reading of what the paper leaves open decides the other way"),
    POINTS_FOR: Badge("↗", "weaker evidence for it"),
    POINTS_AGAINST: Badge("↘", "weaker evidence against it"),
    OPEN: Badge("?", "too little evidence either way, or the winner does not beat the control"),
    NOT_RUN: Badge("–", "left out at this scale, or the data cannot be downloaded"),
    OUTSIDE: Badge("∅", "no instance that we computed meets the theorem's premises"),
}
FOR, AGAINST = (REPLICATED, HOLDS), (CONTRADICTED, FAILS)
DECIDED = (*FOR, *AGAINST, DEPENDS)
AT_CEILING = 0.02  # of the way from floor to ceiling
TOO_FEW = "too few seeds to decide, however clear"
SPLIT = "seeds split"
Naming = Callable[[str, str], str]  # the printed name of an experiment's cell


@dataclass(frozen=True)
class Verdict:
    """What is concluded, on which evidence, and what should be read beside it."""

    badge: str
    e_for: float
    e_against: float
    notes: list[str] = field(default_factory=list)
    control: str = ""  # which winner is not shown to beat the control
    post_hoc: bool = False

    @property
    def way(self) -> int:
        """1 where it is decided for the claim, -1 against, 0 where it is not decided."""
        return (self.badge in FOR) - (self.badge in AGAINST)


@dataclass(frozen=True)
class Gate:
    """How strongly the winner of an order beats the control that learns nothing."""

    e_for: float = MOST  # of the one that the claim puts first
    e_against: float = MOST  # of the other
    words: str = ""


def decide(
    claim: Claim,
    outcomes: Sequence[Outcome],
    gates: Sequence[Gate],
    less: str = "",
) -> Verdict:
    """The verdict on a claim; `less` says how its training was shorter than the paper's."""
    e_for = min(o.e_for for o in outcomes)
    e_against = float(np.mean([o.e_against for o in outcomes]))
    gated = min(min(o.e_for, g.e_for) for o, g in zip(outcomes, gates, strict=True))
    gated_against = float(
        np.mean([min(o.e_against, g.e_against) for o, g in zip(outcomes, gates, strict=True)])
    )
    notes = [f"smaller budget: {less}"] if less else []
    shorter = bool(less) and not claim.budget_free
    if less and claim.budget_free:
        notes.append(claim.budget_free)
    if shorter and claim.needs_budget:
        return Verdict(OPEN, e_for, e_against, [*notes, claim.needs_budget])
    if gated_against >= DECIDES:
        return Verdict(FAILS if shorter else CONTRADICTED, gated, gated_against, notes)
    for status in (NOT_RUN, OUTSIDE):
        if any(o.status == status for o in outcomes):
            return Verdict(status, 1.0, 1.0)
    if gated >= DECIDES:
        return Verdict(HOLDS if shorter else REPLICATED, gated, gated_against, notes)
    if not any(o.exact for o in outcomes) and 0 < min(o.seeds for o in outcomes) < fewest():
        notes.append(TOO_FEW)
    if gated >= POINTS or gated_against >= POINTS:
        badge = POINTS_FOR if gated >= POINTS else POINTS_AGAINST
        return Verdict(badge, gated, gated_against, notes)
    control = next((g.words for g in gates if g.words), "")
    why = [] if max(e_for, e_against) >= POINTS else _why_open(outcomes)
    notes = [*filter(None, [control]), *why, *notes]
    return Verdict(OPEN, gated, gated_against, notes, control)


def _why_open(outcomes: Sequence[Outcome]) -> list[str]:
    """Why seeds do not decide: they split, or the comparisons disagree."""
    said = [o.words for o in outcomes if not o.label and not o.exact]
    tested = [o for o in outcomes if o.label and not o.exact and o.e_for < MOST]
    if any(o.won and o.lost for o in tested):
        said.append(SPLIT)
    elif len({o.won > o.lost for o in tested if o.won or o.lost}) == 2:
        said.append("the comparisons point different ways")
    return said


def gates_of(
    claim: Claim,
    summaries: Mapping[str, Summary],
    tests: Sequence[Test],
    name: Naming,
) -> list[Gate]:
    """How far each test's order counts. That a learner is near a number is praise as well."""
    return [
        _gate(claim, summaries, test, name)
        if isinstance(test, Pair | Near) and test.experiment in summaries
        else Gate()
        for test in tests
    ]


def _gate(claim: Claim, summaries: Mapping[str, Summary], test: Pair | Near, name: Naming) -> Gate:
    if claim.floor is None and claim.ceiling is None:
        return Gate()
    summary = summaries[test.experiment]
    cells = [test.cell] if isinstance(test, Near) else [test.first, test.second]
    floor, level = claim.floor, test.metric
    found = Gate()
    if floor is not None:
        level = floor.metric or test.metric
        expected = floor.winner or cells[0]
        loser = next((cell for cell in cells[::-1] if cell != expected), expected)
        e_for, always = _beats(summary, expected, floor.cell, level)
        e_against, other = _beats(summary, loser, floor.cell, level)
        if isinstance(test, Near):
            e_against, other = MOST, True
        words = f"{name(test.experiment, expected)} is not shown to beat the control"
        found = Gate(e_for, e_against, "" if always and other else words)
    if (ceiling := claim.ceiling) is not None:
        source = summaries.get(ceiling.experiment or test.experiment)
        if source is None:
            return Gate(1.0, 1.0, f"the ceiling experiment {ceiling.experiment} was not run")
        top = source.final(ceiling.cell, ceiling.metric or level).mean()
        bottom = 0.0 if floor is None else summary.final(floor.cell, level).mean()
        missing = [top - summary.final(cell, level).mean() for cell in dict.fromkeys(cells)]
        if np.max(missing) <= AT_CEILING * abs(top - bottom):
            return Gate(1.0, 1.0, "all compared algorithms reach the best that is known")
    return found


def _beats(summary: Summary, cell: str, control: str, metric: str) -> tuple[float, bool]:
    """The e-value that a cell beats the control, and whether it does in every seed."""
    ahead = paired_differences(summary.final(cell, metric), summary.final(control, metric))
    return most_seeds(int((ahead > ROUNDING).sum()), int((ahead < -ROUNDING).sum())), bool(
        (ahead > ROUNDING).all()
    )


def under_readings(verdict: Verdict, readings: Sequence[tuple[Verdict, bool]]) -> Verdict:
    """A decided verdict that a reading, at a budget no smaller, decides the other way."""
    if verdict.way and any(other.way == -verdict.way and fair for other, fair in readings):
        return replace(verdict, badge=DEPENDS)
    return verdict


def with_contained(verdicts: Mapping[str, Verdict], claims: Sequence[Claim]) -> dict[str, Verdict]:
    """A sentence cannot be open where a weaker one that it contains is contradicted."""
    found = dict(verdicts)
    for _ in claims:  # containment may be a chain
        for claim in claims:
            if found[claim.id].badge not in (OPEN, POINTS_FOR, POINTS_AGAINST):
                continue
            for weaker in claim.contains:
                if found[weaker].way == -1:
                    note = f"it contains a claim that is contradicted ({weaker})"
                    own = found[claim.id]
                    found[claim.id] = replace(
                        own, badge=found[weaker].badge, notes=[*own.notes, note],
                        e_against=found[weaker].e_against, post_hoc=found[weaker].post_hoc,
                    )  # fmt: skip
                    break
    return found
