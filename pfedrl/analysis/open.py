"""Open claims: what each lacks, and which an hour of core time may decide.

Everything is read from committed verdicts and from the facts of earlier runs; nothing is judged
again. All variants of an experiment get the same seeds, so a price is that of whole experiments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pfedrl.analysis.evidence import DECIDES, chance
from pfedrl.analysis.outcomes import NOT_RUN
from pfedrl.analysis.output import read_result
from pfedrl.analysis.verdict import OPEN, POINTS_AGAINST, POINTS_FOR
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.costs import Known
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD

SEEDS = "An hour of core time may decide"
LEARNER = "No learner beats the control: more seeds decide nothing"
OTHERWISE = "An hour decides nothing"
ABSENT = "Not run"
FIRST = 15  # claims that are printed unless all are asked for
MOST_SEEDS = 200  # that an hour is taken to add


@dataclass(frozen=True)
class OpenClaim:
    """A claim without a verdict, and what it lacks."""

    paper: str
    id: str
    ours: bool
    badge: str
    lacks: str  # SEEDS, LEARNER, OTHERWISE or ABSENT
    seeds: int
    more: int  # seeds that an hour adds
    chance: float  # that these decide it
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.paper}/{self.id}" + (" (ours)" if self.ours else "")


def open_claims(project: Project, scale: str = RECORD) -> list[OpenClaim]:
    """The open claims of all papers, the likeliest to be decided first."""
    place = project.scale(scale).verdicts_of
    judged = {name: read_result(project.root / place(name)) for name in project.papers}
    if not any(judged.values()):
        raise PfedrlError(f"{place('PAPER')}: no verdicts yet. Run the pipeline first.")
    found = []
    for paper, results in judged.items():
        for result in results["claims"] if results else ():
            if result["badge"] not in (OPEN, POINTS_FOR, POINTS_AGAINST, NOT_RUN):
                continue
            hours = [_hours_per_seed(project, scale, paper, name) for name in result["experiments"]]
            price = sum(filter(None, hours))
            more = min(int(1 / price), MOST_SEEDS) if price and None not in hours else 0
            likely = _chance(result, more)
            lacks = SEEDS if likely >= 0.01 else OTHERWISE
            if result["badge"] == NOT_RUN:
                lacks = ABSENT
            elif result["control"] and result["badge"] == OPEN:
                lacks = LEARNER
            found.append(OpenClaim(
                paper, result["id"], result["ours"], result["badge"], lacks, result["seeds"],
                more, likely, tuple(result["notes"]),
            ))  # fmt: skip
    return sorted(found, key=lambda one: (-one.chance, one.name))


def _chance(result: dict[str, Any], more: int) -> float:
    """That so many more seeds decide it: all comparisons for it, or one of them far against it.

    Comparisons share their seeds, so the least of their chances stands for all.
    """
    coins = [(one["won"], one["lost"]) for one in result["comparisons"] if one["label"]]
    if result["asks"] != "most seeds" or not coins or not more:
        return 0.0
    agree = min(chance(won, lost, more) for won, lost in coins)
    against = max(chance(lost, won, more, DECIDES * len(coins)) for won, lost in coins)
    return min(agree + against, 1.0)


@cache
def _hours_per_seed(project: Project, scale: str, paper: str, experiment: str) -> float | None:
    """The core-hours of one seed of all cells, at the budget of the runs behind the verdicts."""
    if project.budget(project.scale(scale), paper, experiment) is None:
        return None
    known = _known(project)
    costs = [
        known.cost(cell, 1)
        for cell in cells(project, paper, experiment, scale)
        if cell.unfit() is None
    ]
    return None if None in costs else sum(cost.seconds for cost in costs if cost) / 3600


@cache
def _known(project: Project) -> Known:
    return Known(project.root)


def lines(claims: list[OpenClaim], of: int, every: bool) -> Iterator[str]:
    """The open claims as text: their number, and the likeliest, or `every` one with its notes."""
    yield f"{len(claims)} of {of} claims are open."
    width = max((len(claim.name) for claim in claims), default=0)
    for lacks in (SEEDS, LEARNER, OTHERWISE, ABSENT):
        group = [claim for claim in claims if claim.lacks == lacks]
        if not group:
            continue
        yield f"{lacks}: {len(group)}."
        for claim in group if every else group[:FIRST] if lacks == SEEDS else ():
            likely = f", {claim.more:,} more in an hour: {claim.chance:.0%}" * (lacks == SEEDS)
            yield f"  {claim.name:{width}}  {claim.badge}, {claim.seeds:,} seeds{likely}"
            if every:
                yield from (f"      {note}" for note in claim.notes)
    if not every:
        yield "Every claim, with the reasons: pfedrl open --all"
