"""What evidence is missing and what it would cost: open claims, seeds, processor time.

A claim needs seeds of its experiments, and all cells of an experiment have the same seeds. So what
can be bought is experiments lifted to a number of seeds, and one purchase may decide many claims.
Prices come from the processor seconds that finished runs measured.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.analysis.claims import experiments_of, shortened
from pfedrl.analysis.evidence import FEWEST, next_look
from pfedrl.analysis.outcomes import NOT_RUN, UNDECIDED
from pfedrl.analysis.output import read_result
from pfedrl.analysis.verdicts import LEANS_AGAINST, LEANS_FOR
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, cells, run_path
from pfedrl.pipeline.claim import Claim
from pfedrl.pipeline.costs import expected, makespan
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import NAME, PAPER, published_runs, scale_of, shared_runs
from pfedrl.pipeline.twins import twin_of

OPEN = (UNDECIDED, LEANS_FOR, LEANS_AGAINST, NOT_RUN)

Place = tuple[str, str]  # paper and experiment


class Job(NamedTuple):
    """A block of seeds of one cell, and how long it should take; or the runs that have its rows."""

    place: Place
    scale: str
    cell: str
    seeds: range
    seconds: float
    taken: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What an experiment's finished runs say of its next ones."""

    scale: str  # at which it was run
    seeds: range
    block: int  # seeds a job
    rates: dict[str, float]  # cell to processor seconds a seed
    memory_mb: float  # of the largest job
    disk_mb: float  # a seed, of all cells
    twins: dict[str, dict[Path, range]]  # cell to runs with its settings elsewhere, and their seeds
    waiting: dict[str, list[range]] = field(default_factory=dict)  # seeds that other cells lack yet

    def jobs(self, place: Place, upto: int) -> list[Job]:
        """The blocks that are missing until there are so many seeds."""
        last = self.seeds.start + upto
        blocks = [
            range(first, min(first + self.block, last))
            for first in range(self.seeds.stop, last, self.block)
        ]
        return [
            self._job(place, cell, block)
            for cell in self.rates
            for block in blocks
            if block not in self.waiting.get(cell, [])
        ]

    def _job(self, place: Place, cell: str, block: range) -> Job:
        shared = {
            path: len(range(max(block.start, seeds.start), min(block.stop, seeds.stop)))
            for path, seeds in self.twins.get(cell, {}).items()
        }
        if sum(shared.values()) == len(block):
            taken = tuple(path for path, seeds in shared.items() if seeds)
            return Job(place, self.scale, cell, block, 0.0, taken)
        return Job(place, self.scale, cell, block, self.rates[cell] * len(block))


@dataclass(frozen=True)
class OpenClaim:
    """A claim without a verdict: the seeds that its experiments lack, or why none would help.

    Of one that was run with less than the paper's budget, `needs` counts seeds at the whole.
    """

    paper: str
    id: str
    words: str
    ours: bool
    verdict: str
    places: tuple[Place, ...]
    needs: dict[Place, int]
    reason: str = ""
    cut: str = ""  # what it was run with less of than the paper, where that is the reason


@dataclass(frozen=True)
class Purchase:
    """Experiments lifted to a number of seeds, and the claims that this should decide."""

    upto: dict[Place, int]
    claims: tuple[OpenClaim, ...]
    jobs: tuple[Job, ...]
    memory_mb: float
    disk_mb: float

    @cached_property
    def core_hours(self) -> float:
        return sum(job.seconds for job in self.jobs) / 3600

    @property
    def whole(self) -> bool:
        """Whether it is at the paper's budget, where there were runs at a smaller one."""
        return any(claim.cut for claim in self.claims)

    @cached_property
    def claims_an_hour(self) -> float:
        return len(self.claims) / max(self.core_hours, 1e-9)

    def seconds(self, cores: int) -> float:
        """From the first start to the last end, the longest jobs first."""
        return makespan((job.seconds for job in self.jobs if not job.taken), cores)


@dataclass(frozen=True)
class Ledger:
    """Every claim's verdict, those that are open, and what the experiments behind them cost."""

    verdicts: dict[tuple[str, str], str]
    open: tuple[OpenClaim, ...]
    measured: dict[Place, Measured]
    # those that were run at a smaller budget than the paper's, at that one; None: unknown
    whole: dict[Place, Measured | None] = field(default_factory=dict)

    def offer(self, place: Place) -> Measured | None:
        """An experiment as it can be bought: at the paper's own budget. None where unknown."""
        return self.whole[place] if place in self.whole else self.measured.get(place)

    def buy(self, upto: dict[Place, int]) -> Purchase | None:
        """The purchase of so many seeds; None where nothing was measured yet."""
        costs = {place: cost for place in upto if (cost := self.offer(place)) is not None}
        if len(costs) < len(upto):
            return None
        decided = tuple(
            claim
            for claim in self.open
            if claim.needs and all(n <= upto.get(place, 0) for place, n in claim.needs.items())
        )
        return Purchase(
            upto,
            decided,
            tuple(job for place, cost in costs.items() for job in cost.jobs(place, upto[place])),
            max((cost.memory_mb for cost in costs.values()), default=0.0),
            sum(
                cost.disk_mb * max(0, upto[place] - len(cost.seeds))
                for place, cost in costs.items()
            ),
        )

    def purchases(self) -> list[Purchase]:
        """One for each set of seeds that some claim needs; first what an hour decides most of."""
        wanted = {tuple(sorted(claim.needs.items())) for claim in self.open if claim.needs}
        found = [self.buy(dict(upto)) for upto in sorted(wanted)]
        return sorted(
            (purchase for purchase in found if purchase is not None),
            key=lambda purchase: -purchase.claims_an_hour,
        )

    def prices(self) -> dict[tuple[str, str], float]:
        """The core-hours of the seeds that should decide a claim, where they are known."""
        bought = {(c.paper, c.id): self.buy(c.needs) for c in self.open if c.needs and not c.cut}
        return {claim: found.core_hours for claim, found in bought.items() if found is not None}

    def everything(self) -> Purchase | None:
        """All seeds that can be bought at the budget of those that are there, each experiment
        once."""
        upto: dict[Place, int] = {}
        for claim in self.open:
            if not claim.cut and self.buy(claim.needs) is not None:
                for place, seeds in claim.needs.items():
                    upto[place] = max(seeds, upto.get(place, 0))
        return self.buy(upto)


def choose(purchases: Sequence[Purchase], seconds: float, cores: int) -> Purchase | None:
    """The first of those that would be done in time."""
    return next((p for p in purchases if p.seconds(cores) <= seconds), None)


def read_ledger(project: Project, scale: str, claims: Path | None = None) -> Ledger:
    """From the verdicts in a folder, by default results/<scale>/claims, and their runs."""
    if not project.scale(scale).verdicts:
        raise PfedrlError(
            f"scale '{scale}' gives no verdicts, so there is nothing to plan. Choose another scale."
        )
    claims = claims or project.root / "results" / scale / "claims"
    results = {name: _results(claims / f"{name}.json") for name in project.papers}
    if not any(results.values()):
        first = "`pfedrl figures`" if scale == NAME else "the pipeline"
        raise PfedrlError(f"results/{scale}/claims: no verdicts yet. Run {first} first.")
    measured = {
        (paper, experiment): found
        for paper, page in project.papers.items()
        for experiment in page.experiments
        if (found := _measure(project, scale, paper, experiment)) is not None
    }
    open_claims = []
    verdicts = {}
    for name, page in project.papers.items():
        for claim in page.claims:
            result = results[name].get(claim.id)
            verdicts[name, claim.id] = NOT_RUN if result is None else result["verdict"]
            if verdicts[name, claim.id] in OPEN:
                less = shortened(project, page, project.scale(scale), claim.tests)
                open_claims.append(_open(page, claim, result, less, measured))
    whole = {}
    if scale == NAME:
        cut = dict.fromkeys(place for claim in open_claims if claim.cut for place in claim.places)
        whole = {place: _whole(project, *place) for place in cut if not _at_papers(measured, place)}
    return Ledger(verdicts, tuple(open_claims), measured, whole)


def _at_papers(measured: dict[Place, Measured], place: Place) -> bool:
    return place in measured and measured[place].scale == PAPER


def _whole(project: Project, paper: str, experiment: str) -> Measured | None:
    """An experiment at the paper's own budget, as it should cost; None where that is unknown."""
    budget = project.budget(project.scale(PAPER), paper, experiment)
    if budget is None:
        return None
    shared = shared_runs(project, paper, experiment, PAPER)
    found = Measured(PAPER, range(0), budget.block, {}, 0.0, 0.0, {})
    for cell in cells(project, paper, experiment, PAPER):
        if cell.unfit() is not None:
            continue
        twin = twin_of(project, cell, PAPER)
        cost = expected(project, twin or cell, PAPER, f"0-{budget.block}")
        if cost is None:
            return None
        found.rates[cell.name] = cost.seconds / budget.block
        found.twins[cell.name] = _taken(project, NAME, PAPER, cell)
        every = published_runs(project.root, PAPER, cell)
        found.waiting[cell.name] = _waiting(every, shared[cell.name])
        found = replace(
            found,
            memory_mb=max(found.memory_mb, cost.memory_mb),
            disk_mb=found.disk_mb + cost.disk_mb / budget.block,
        )
    return found


def _results(path: Path) -> dict[str, dict[str, Any]]:
    judged = read_result(path)
    return {result["id"]: result for result in (judged or {"claims": []})["claims"]}


def _open(
    page: Paper,
    claim: Claim,
    result: dict[str, Any] | None,
    less: str,
    measured: dict[Place, Measured],
) -> OpenClaim:
    experiments = dict.fromkeys(e for test in claim.tests for e in experiments_of(page, test))
    places = tuple((page.paper, experiment) for experiment in experiments)
    verdict = NOT_RUN if result is None else result["verdict"]
    needs: dict[Place, int] = {}
    cut = ""
    if result is None or verdict == NOT_RUN:
        reason = "not run" if result is None else f"not run: {'; '.join(result['evidence'])}"
    elif less and not claim.budget_free:
        reason, cut = f"needs the paper's budget; run so far with {less}", less
        # if what was seen at the smaller budget is seen at the paper's
        needed = result["seeds"] if verdict != UNDECIDED else result["needed"]
        needs = {} if needed is None else dict.fromkeys(places, max(needed, FEWEST))
    elif result["needed"] is None:
        reason = "; ".join(result["notes"] or result["evidence"])
    else:
        needs, reason = _lacking(places, result["needed"], measured), ""
    return OpenClaim(
        page.paper, claim.id, claim.words, claim.ours, verdict, places, needs, reason, cut
    )


def _lacking(
    places: Iterable[Place], needed: int, measured: dict[Place, Measured]
) -> dict[Place, int]:
    """The experiments that have fewer seeds; where none has (some seeds may have no value), all
    go to their next look."""
    have = {place: len(measured[place].seeds) if place in measured else 0 for place in places}
    lacking = {place: needed for place, seeds in have.items() if seeds < needed}
    return lacking or {place: next_look(seeds) for place, seeds in have.items()}


def _measure(project: Project, scale: str, paper: str, experiment: str) -> Measured | None:
    """What the finished runs of an experiment took; None where some cell has none."""
    source = scale_of(project, paper, experiment) if scale == NAME else scale
    if source is None or project.budget(project.scale(source), paper, experiment) is None:
        return None
    rates: dict[str, float] = {}
    twins: dict[str, dict[Path, range]] = {}
    waiting: dict[str, list[range]] = {}
    shared = shared_runs(project, paper, experiment, source) if scale == NAME else None
    memory = disk = 0.0
    seeds, block = range(0), 1
    for cell in cells(project, paper, experiment, source):
        # what published runs took is known where their data are not
        if (cell.unfit() if scale == NAME else cell.skip()) is not None:
            continue
        every = _runs(project, scale, source, cell)
        paths = every if shared is None else shared[cell.name]
        if not paths:
            return None
        waiting[cell.name] = _waiting(every, paths)
        facts = [read_facts(path) for path in paths]
        seeds, block = range(facts[0]["seeds"][0], facts[-1]["seeds"][1]), cell.budget.block
        rates[cell.name] = sum(fact["cpu_seconds"] for fact in facts) / len(seeds)
        memory = max(memory, *(fact["peak_memory_mb"] for fact in facts))
        disk += sum(path.stat().st_size for path in paths) / 1e6 / len(seeds)
        twins[cell.name] = _taken(project, scale, source, cell)
    return Measured(source, seeds, block, rates, memory, disk, twins, waiting) if rates else None


def _taken(project: Project, scale: str, source: str, cell: Cell) -> dict[Path, range]:
    """The runs of another experiment that have a cell's rows, and their seeds."""
    twin = twin_of(project, cell, source)
    found = [] if twin is None else _runs(project, scale, source, twin)
    return {
        path: range(*facts["seeds"])
        for path in found
        if (facts := read_facts(path))["code"] == run_code(cell)
    }


def _waiting(every: list[Path], shared: list[Path]) -> list[range]:
    """The published seeds of a cell that others of its experiment lack."""
    return [range(*read_facts(path)["seeds"]) for path in every if path not in shared]


def _runs(project: Project, scale: str, source: str, cell: Cell) -> list[Path]:
    """The runs of a cell, ordered by seeds, that the verdicts of a scale rest on."""
    if scale == NAME:
        return published_runs(project.root, source, cell)
    paths = [project.root / run_path(source, cell, block) for block in cell.blocks()]
    return [path for path in paths if path.exists()]
