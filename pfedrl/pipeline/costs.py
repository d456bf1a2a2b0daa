"""What jobs should cost: processor time, memory and disk, from what earlier runs measured,
the published ones first.

A cell that was run with the same settings costs a seed what it did then. Else its time is what its
length costs by the measured rates: see rates.py. Where there are none, that of a run which was
shorter or longer, or larger in other ways, grows or shrinks with the length. Nothing is carried
from small nets to large ones or from few agents to many: what was never measured is not guessed.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

from rich.table import Table

from pfedrl.core.progress import span
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, cells, changed, parse_block, run_path
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import SCALES, published_folder
from pfedrl.pipeline.rates import AFTERWARDS, LENGTHS, amount, rate
from pfedrl.pipeline.twins import twin_of

START_UP = 5.0  # seconds that a process is given to import what it needs
SHORT = 60  # seconds; below that, starting a job costs as much as the job
SHORTEST, LONGEST = 10, 24 * 60  # minutes that a batch system is asked for
SLACK = 3  # times the expected time and 1.5 times the memory: processors and loads differ
UNKNOWN_MINUTES, UNKNOWN_MB = 12 * 60, 2000  # asked for where nothing was measured
NEVER_RUN = "no similar run has been measured here"


@dataclass(frozen=True)
class Cost:
    """Of one job, or of a seed of it."""

    seconds: float
    memory_mb: float
    disk_mb: float

    def times(self, seeds: float, budget: float = 1.0) -> "Cost":
        return Cost(self.seconds * seeds * budget, self.memory_mb, self.disk_mb * seeds)


TAKING_OVER = Cost(0.0, 250.0, 0.0)  # of rows that another cell has; they are small


def expected(project: Project, cell: Cell, scale: str, block: str) -> Cost | None:
    """What a block of seeds of a cell should cost; None where nothing is known of it."""
    if twin_of(project, cell, scale) is not None:
        return TAKING_OVER
    seeds = len(parse_block(block))
    other: Cost | None = None
    for source in dict.fromkeys((scale, *SCALES)):
        published = published_folder(project.root, source, cell)
        own = project.root / run_path(source, cell, block).parent
        if (cost := _a_seed(published) or _a_seed(own)) is not None:
            there = _cells(project, cell.paper, cell.experiment, source).get(cell.name, cell)
            if cell.settings() == there.settings():
                return cost.times(seeds)
            if other is None and not _larger(cell, there):
                other = cost.times(seeds, amount(cell) / amount(there))
    if (measured := rate(project, cell)) is not None:
        found, times = measured
        return Cost(
            seeds * found.takes(times),
            found.process_mb + seeds * found.memory_mb,
            seeds * found.disk_mb,
        )
    return other


@cache
def _cells(project: Project, paper: str, experiment: str, scale: str) -> dict[str, Cell]:
    if project.budget(project.scale(scale), paper, experiment) is None:
        return {}
    return {cell.name: cell for cell in cells(project, paper, experiment, scale)}


@cache
def _a_seed(folder: Path) -> Cost | None:
    paths = sorted(folder.glob("*.parquet"))
    if not paths:
        return None
    facts = [read_facts(path) for path in paths]
    seeds = sum(len(range(*fact["seeds"])) for fact in facts)
    return Cost(
        sum(fact["cpu_seconds"] for fact in facts) / seeds,
        max(fact["peak_memory_mb"] for fact in facts),
        sum(path.stat().st_size for path in paths) / 1e6 / seeds,
    )


def _larger(cell: Cell, there: Cell) -> bool:
    """Whether a cell has more of anything than it had elsewhere, its length apart."""
    for name, here, other, _ in changed(cell, there):
        if name in (*LENGTHS, *AFTERWARDS, "train_samples") or isinstance(here, float):
            continue
        if not (isinstance(here, int) and isinstance(other, int) and here <= other):
            return True
    return False


def is_short(cost: Cost | None) -> bool:
    return cost is not None and cost.seconds < SHORT


def minutes(cost: Cost | None, attempt: int = 1) -> int:
    """What to ask a batch system for; a job that needs longer goes on from its checkpoint."""
    if cost is None:
        return UNKNOWN_MINUTES
    wanted = ceil(SLACK * attempt * (cost.seconds + START_UP) / 60)
    return min(max(wanted, SHORTEST), LONGEST)


def megabytes(cost: Cost | None, attempt: int = 1) -> int:
    wanted = UNKNOWN_MB if cost is None else max(1.5 * cost.memory_mb, 500)
    return ceil(wanted * attempt)


def makespan(seconds: Iterable[float], cores: int) -> float:
    """From the first start to the last end, the longest jobs first."""
    ends = [0.0] * cores
    for job in sorted(seconds, reverse=True):
        heapq.heapreplace(ends, ends[0] + job + START_UP)
    return max(ends)


def nodes(seconds: Sequence[float], cores: int, within: float) -> int | None:
    """How many nodes of so many cores are done in time; None where the longest job is not."""
    if not seconds or max(seconds) + START_UP > within:
        return None if seconds else 0
    fewest = ceil(sum(seconds) / within / cores)
    return next(
        n for n in range(max(fewest, 1), len(seconds) + 2) if makespan(seconds, n * cores) <= within
    )


@dataclass(frozen=True)
class Bill:
    """What a paper's runs cost, and how many cannot be counted, by the reason."""

    costs: list[Cost]
    uncounted: Counter[str]


def bills(project: Project, scale: str) -> dict[str, Bill]:
    """By paper, all runs of a scale."""
    found = {paper: Bill([], Counter()) for paper in project.papers}
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            for cell in _cells(project, paper, experiment, scale).values():
                reason = cell.skip()
                for block in cell.blocks():
                    cost = None if reason else expected(project, cell, scale, block)
                    if cost is None:
                        found[paper].uncounted[reason or NEVER_RUN] += 1
                    else:
                        found[paper].costs.append(cost)
    return {paper: bill for paper, bill in found.items() if bill.costs or bill.uncounted}


def table(found: dict[str, Bill]) -> Table:
    """A row a paper."""
    made = Table("paper", box=None, pad_edge=False)
    for column in ("runs", "core time", "the longest", "memory", "disk", "not counted"):
        made.add_column(column, justify="right")
    for paper, bill in found.items():
        known = [""] * 4
        if bill.costs:
            known = [
                duration(core_hours(bill.costs)),
                duration(max(cost.seconds for cost in bill.costs) / 3600),
                f"{max(cost.memory_mb for cost in bill.costs) / 1000:.1f} GB",
                f"{sum(cost.disk_mb for cost in bill.costs):.2g} MB",
            ]
        uncounted = bill.uncounted.total()
        made.add_row(paper, f"{len(bill.costs):,}", *known, str(uncounted or ""))
    return made


def sentences(
    costs: Sequence[Cost], uncounted: Mapping[str, int], cores: int, hours: float
) -> list[str]:
    """Core-hours, memory, disk, how many nodes are done in time, and what is not counted."""
    said = []
    if costs:
        seconds = [cost.seconds for cost in costs]
        longest = max(seconds)
        said.append(
            f"{len(costs)} runs take about {duration(core_hours(costs))} of core time, "
            f"{duration(makespan(seconds, cores) / 3600)} on {cores} cores; the longest "
            f"{duration(longest / 3600)}. Up to {max(c.memory_mb for c in costs):.0f} MB of "
            f"memory per job, {sum(c.disk_mb for c in costs):.2g} MB of disk."
        )
        within = hours * 3600
        if longest + START_UP > within:
            said.append(
                f"The longest run alone takes more than {hours:g} h, on any number of nodes."
            )
            within = longest + START_UP
        said.append(
            f"Nodes of {cores} cores needed to finish within {duration(within / 3600)}: "
            f"{nodes(seconds, cores, within)}."
        )
    said += [f"{count} runs are not counted: {reason}." for reason, count in uncounted.items()]
    return said


def core_hours(costs: Iterable[Cost]) -> float:
    return sum(cost.seconds + START_UP for cost in costs) / 3600


def duration(hours: float | None) -> str:
    """12 s, 3.4 min or 5.6 h; or that it is unknown."""
    return "unknown" if hours is None else span(hours * 3600)
