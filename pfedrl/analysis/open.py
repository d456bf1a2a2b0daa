"""Open claims: which they are, how many seeds should decide them, and the core time of those seeds.

Everything is read from committed verdicts and from the facts of earlier runs; nothing is judged
again. All variants of an experiment get the same seeds, so a price is that of whole experiments,
and claims that share an experiment share its price.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pfedrl.analysis.claims import experiments_of
from pfedrl.analysis.outcomes import NOT_RUN, UNDECIDED
from pfedrl.analysis.output import read_result
from pfedrl.analysis.verdicts import LEANS_AGAINST, LEANS_FOR, REDUCED, WOULD_DECIDE
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.costs import Known, duration
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD

OPEN = (UNDECIDED, LEANS_FOR, LEANS_AGAINST, NOT_RUN)
SEEDS = "More seeds should decide"
BUDGET = "Run with a smaller budget than the paper's"
OTHERWISE = "More seeds alone decide nothing"
ABSENT = "Not run"
FIRST = 15  # claims that are printed unless all are asked for


@dataclass(frozen=True)
class OpenClaim:
    """A claim without a final verdict, and what it lacks."""

    paper: str
    id: str
    ours: bool
    verdict: str
    lacks: str  # SEEDS, BUDGET, OTHERWISE or ABSENT
    experiments: tuple[str, ...]
    seeds: int
    needed: int | None  # seeds that should decide it at the budget of its runs
    core_hours: float | None  # of the seeds that are missing; None where unknown
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.paper}/{self.id}" + (" (ours)" if self.ours else "")


def open_claims(project: Project, scale: str = RECORD) -> list[OpenClaim]:
    """The open claims of all papers, the cheapest first."""
    place = project.scale(scale).verdicts_of
    judged = {name: read_result(project.root / place(name)) for name in project.papers}
    if not any(judged.values()):
        raise PfedrlError(f"{place('PAPER')}: no verdicts yet. Run the pipeline first.")
    found = []
    for paper, page in project.papers.items():
        results = {result["id"]: result for result in (judged[paper] or {"claims": []})["claims"]}
        for claim in page.claims:
            result = results.get(claim.id, {"verdict": NOT_RUN, "seeds": 0, "needed": None})
            if result["verdict"] not in OPEN:
                continue
            experiments = tuple(
                dict.fromkeys(name for test in claim.tests for name in experiments_of(page, test))
            )
            notes, needed = tuple(result.get("notes", ())), result["needed"]
            reduced = any(note.startswith(REDUCED) for note in notes) and not claim.budget_free
            if result["verdict"] == NOT_RUN:
                lacks, notes = ABSENT, tuple(result.get("evidence", ()))
            else:
                lacks = BUDGET if reduced else SEEDS if needed is not None else OTHERWISE
            hours = None
            if needed is not None:
                costs = [_hours_per_seed(project, scale, paper, name) for name in experiments]
                missing = needed - result["seeds"]
                hours = None if None in costs else missing * sum(filter(None, costs))
            found.append(OpenClaim(
                paper, claim.id, claim.ours, result["verdict"], lacks, experiments,
                result["seeds"], needed, hours, notes,
            ))  # fmt: skip
    return sorted(found, key=lambda c: (c.core_hours is None, c.core_hours or 0.0, c.name))


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
    """The open claims as text: their number, and the cheapest, or `every` one with its notes."""
    yield f"{len(claims)} of {of} claims are open."
    for lacks in (SEEDS, BUDGET, OTHERWISE, ABSENT):
        group = [claim for claim in claims if claim.lacks == lacks]
        if not group:
            continue
        yield f"{lacks}: {len(group)}."
        if every or lacks == SEEDS:
            yield from _aligned(group if every else group[:FIRST], every)
    if not every:
        yield "Every claim, with its experiments and the reasons: pfedrl open --all"


def _aligned(claims: list[OpenClaim], every: bool) -> Iterator[str]:
    width = max(len(claim.name) for claim in claims)
    for claim in claims:
        words = f"  {claim.name:{width}}  {claim.verdict}, {_seeds(claim)}"
        if every:
            words += f" [{', '.join(claim.experiments)}]"
            words += "".join(f"\n      {note}" for note in claim.notes if WOULD_DECIDE not in note)
        yield words


def _seeds(claim: OpenClaim) -> str:
    if claim.needed is None:
        return f"{claim.seeds:,} seeds"
    return f"{claim.seeds:,} of {claim.needed:,} seeds, {duration(claim.core_hours)} of core time"
