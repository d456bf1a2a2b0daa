"""From comparisons to a verdict on a sentence: level, controls, budget, readings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pfedrl.analysis.evidence import FEWEST, LEVEL, next_look, p_above, worst_without_one
from pfedrl.analysis.outcomes import (
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    UNDECIDED,
    Outcome,
)
from pfedrl.analysis.statistics import paired_differences
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.claim import Agrees, Claim, Greater, Near, Ordered, Test

LEANS_FOR = "leans for"
LEANS_AGAINST = "leans against"
VERDICTS = (REPRODUCED, CONTRADICTED, LEANS_FOR, LEANS_AGAINST, UNDECIDED, NOT_RUN, OUTSIDE)
LEANING = {REPRODUCED: LEANS_FOR, CONTRADICTED: LEANS_AGAINST}
WOULD_DECIDE = "would decide this"
REDUCED = "reduced budget: "
ONE_SEED = "but not if one seed is left out"
NOT_ABOVE_CONTROL = "is not shown to outperform the control"
AT_TOP = "all compared algorithms reach the ceiling"
AT_CEILING = 0.02  # of the way from floor to ceiling


@dataclass(frozen=True)
class Verdict:
    """What is concluded, and what should be read beside it."""

    verdict: str
    notes: list[str] = field(default_factory=list)
    needed: int | None = None


def decide(claim: Claim, outcomes: Sequence[Outcome]) -> Verdict:
    """All comparisons must hold; one that is clearly reversed contradicts (Holm within the claim).

    Neither is said if leaving out any one seed would unsay it.
    """
    tested = _tested(outcomes)
    if any(contradicting(outcomes)):
        return Verdict(CONTRADICTED)
    if any(len(tested) * (o.p_against or 0.0) < LEVEL for o in tested):
        return Verdict(UNDECIDED, [f"contradicted, {ONE_SEED}"], _next_look(outcomes))
    for verdict in (NOT_RUN, OUTSIDE):
        if any(o.verdict == verdict for o in outcomes):
            return Verdict(verdict)
    if all(_holds(o) for o in outcomes):
        if all(o.p_for_without is None or o.p_for_without < LEVEL for o in outcomes):
            return Verdict(REPRODUCED)
        return Verdict(UNDECIDED, [f"reproduced, {ONE_SEED}"], _next_look(outcomes))
    if all(map(_holds, tested)):
        return Verdict(UNDECIDED)
    if (needed := _needed(tested)) is None:
        return Verdict(UNDECIDED, ["no feasible number of similar seeds would decide this"])
    return Verdict(UNDECIDED, needed=needed)


def _needed(tested: Sequence[Outcome]) -> int | None:
    """Seeds at which all comparisons would hold, or the first would be clearly reversed."""
    hold = [outcome.seeds_to_hold() for outcome in tested if not _holds(outcome)]
    fail = [outcome.seeds_to_fail(len(tested)) for outcome in tested]
    found = [seeds for seeds in fail if seeds is not None]
    if (known := [seeds for seeds in hold if seeds is not None]) == hold:
        found.append(max(known))
    return min(found, default=None)


def contradicting(outcomes: Sequence[Outcome]) -> list[bool]:
    """Which comparisons are clearly reversed, whichever one seed is left out.

    This is the first step of Holm's procedure, which is all that one reversed comparison needs.
    """
    tested = len(_tested(outcomes))
    return [
        o.verdict == CONTRADICTED
        or any(tested * max(t.p_against or 0.0, t.p_against_without or 0.0) < LEVEL
               for t in _tested([o]))
        for o in outcomes
    ]  # fmt: skip


def _tested(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [o for o in outcomes if o.p_for is not None and o.p_against is not None]


def _next_look(outcomes: Sequence[Outcome]) -> int:
    return next_look(min(outcome.seeds for outcome in outcomes))


def _holds(outcome: Outcome) -> bool:
    if outcome.p_for is not None:
        return outcome.p_for < LEVEL
    return outcome.verdict == REPRODUCED


def gated(
    claim: Claim, verdict: Verdict, outcomes: Sequence[Outcome], summaries: dict[str, Summary]
) -> Verdict:
    """An order of algorithms counts only where its winner beats the control that learns nothing,
    and where not all of them reach the best that is known.

    What holds must do so in all its orders. What is contradicted is so by one reversed order. That
    an algorithm is near a number is praise as well, and is gated where it holds.
    """
    if verdict.verdict not in LEANING:
        return verdict
    counted = contradicting(outcomes) if verdict.verdict == CONTRADICTED else None
    reason = _gate(claim, verdict.verdict, counted, summaries, _shown_above)
    return Verdict(UNDECIDED, [*verdict.notes, reason]) if reason else verdict


def worth_seeds(
    claim: Claim, verdict: Verdict, outcomes: Sequence[Outcome], summaries: dict[str, Summary]
) -> Verdict:
    """No seeds are asked for where the control would withhold the verdict that they point to."""
    if verdict.needed is None:
        return verdict
    reversed_ = [o.apart is not None and o.apart.distance < 0 for o in outcomes]
    expected, counted = (CONTRADICTED, reversed_) if any(reversed_) else (REPRODUCED, None)
    reason = _gate(claim, expected, counted, summaries, lambda ahead: ahead.mean() > 0)
    return Verdict(verdict.verdict, [*verdict.notes, reason]) if reason else verdict


def _shown_above(ahead: np.ndarray) -> bool:
    return worst_without_one([ahead], lambda s, at: float(p_above(s[0], at=at))) < LEVEL


Beats = Callable[[np.ndarray], bool]


def _gate(
    claim: Claim,
    verdict: str,
    counted: Sequence[bool] | None,
    summaries: dict[str, Summary],
    beats: Beats,
) -> str:
    """Why a verdict is withheld, or nothing; `counted` has the comparisons that it rests on."""
    if claim.floor is None and claim.ceiling is None:
        return ""
    against = verdict == CONTRADICTED
    reasons = [
        _gate_of(claim, test, summaries, verdict, beats)
        if isinstance(test, Greater | Ordered) or (isinstance(test, Near) and not against)
        else ""
        for test, counts in zip(claim.tests, counted or [True] * len(claim.tests), strict=True)
        if counts
    ]
    if all(reasons) if against else any(reasons):
        return next(filter(None, reasons))
    return ""


def _gate_of(
    claim: Claim,
    test: Greater | Ordered | Near,
    summaries: dict[str, Summary],
    verdict: str,
    beats: Beats,
) -> str:
    summary = summaries[test.experiment]
    cells = _compared(test)
    level = test.metric
    floor = claim.floor
    if floor is not None:
        level = floor.metric or test.metric
        winner = _winner(cells, floor.winner, verdict)
        ahead = paired_differences(summary.final(winner, level), summary.final(floor.cell, level))
        if not beats(ahead):
            return f"{winner} {NOT_ABOVE_CONTROL} {floor.cell} ({level})"
    if (ceiling := claim.ceiling) is not None:
        source = summaries.get(ceiling.experiment or test.experiment)
        if source is None:
            return f"the ceiling experiment {ceiling.experiment} was not run"
        top = source.final(ceiling.cell, ceiling.metric or level).mean()
        bottom = 0.0 if floor is None else summary.final(floor.cell, level).mean()
        missing = [top - summary.final(cell, level).mean() for cell in dict.fromkeys(cells)]
        if np.max(missing) <= AT_CEILING * abs(top - bottom):
            return f"{AT_TOP} {ceiling.cell}"
    return ""


def _compared(test: Greater | Ordered | Near) -> list[str]:
    """The cells that are compared, the one that should be ahead first."""
    if isinstance(test, Greater):
        return [test.greater, test.smaller]
    return [test.cell] if isinstance(test, Near) else test.cells


def _winner(cells: Sequence[str], expected: str | None, verdict: str) -> str:
    """The cell that wins: the one that is expected to, or where the order is reversed the other."""
    if expected is None:
        return cells[0] if verdict == REPRODUCED else cells[-1]
    if verdict == REPRODUCED or expected not in cells:
        return expected
    return next((cell for cell in cells if cell != expected), expected)


def at_budget(claim: Claim, verdict: Verdict, less: str) -> Verdict:
    """With a shorter training the verdict is limited to that budget: it leans. An exception is a
    claim that says why the budget does not matter."""
    leans = bool(less) and not claim.budget_free
    if leans and any(map(_is_printed, claim.tests)) and verdict.verdict in (*LEANING, UNDECIDED):
        full = "the printed numbers are for the paper's full budget"
        return Verdict(UNDECIDED, [REDUCED + less, full])
    notes = list(verdict.notes)
    if verdict.needed is not None:
        at_this_budget = " at this budget" if leans else ""
        notes.append(f"about {verdict.needed:,} similar seeds {WOULD_DECIDE}{at_this_budget}")
    notes += filter(None, [less and REDUCED + less, less and claim.budget_free])
    said = LEANING.get(verdict.verdict, verdict.verdict) if leans else verdict.verdict
    return Verdict(said, notes, verdict.needed)


def _is_printed(test: Test) -> bool:
    """Whether it is about a number of the whole training: a table's, or a time that it took."""
    if isinstance(test, Near):
        return test.side == "both" and (test.ends or test.reached) is not None
    return isinstance(test, Agrees)


def expected_wrong(results: Sequence[dict[str, Any]]) -> tuple[int, float]:
    """How many claims have seeds enough for a verdict, and how many of those may be wrong."""
    count = sum(r["p_value"] is not None and r["seeds"] >= FEWEST for r in results)
    return count, count * LEVEL


def kinds(tests: Sequence[Test]) -> str:
    return ", ".join(dict.fromkeys(test.kind for test in tests))
