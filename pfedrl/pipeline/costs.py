"""What jobs should cost: processor time, memory and disk, from what earlier runs measured,
the published ones first.

A cell that was run at the same budget costs a seed what it did then. At another budget its
time grows with everything that is counted (rounds, episodes, epochs), which is rather too much than
too little: not all of it multiplies. What was never measured is not guessed.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

from pfedrl.core.progress import span
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, cells, parse_block, run_path
from pfedrl.pipeline.cuts import changed
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import SCALES, published_folder

START_UP = 5.0  # seconds that a process is given to import what it needs
SHORTEST, LONGEST = 10, 24 * 60  # minutes that a batch system is asked for
SLACK = 3  # times the expected time and 1.5 times the memory: processors and loads differ
UNKNOWN_MINUTES, UNKNOWN_MB = 12 * 60, 2000  # asked for where nothing was measured


@dataclass(frozen=True)
class Cost:
    """Of one job, or of a seed of it."""

    seconds: float
    memory_mb: float
    disk_mb: float

    def times(self, seeds: float, budget: float = 1.0) -> "Cost":
        return Cost(self.seconds * seeds * budget, self.memory_mb, self.disk_mb * seeds)


def expected(project: Project, cell: Cell, scale: str, block: str) -> Cost | None:
    """What a block of seeds of a cell should cost; None where the cell was never run."""
    for source in dict.fromkeys((scale, *SCALES)):
        published = published_folder(project.root, source, cell)
        own = project.root / run_path(source, cell, block).parent
        if (cost := _a_seed(published) or _a_seed(own)) is not None:
            there = _cells(project, cell.paper, cell.experiment, source).get(cell.name, cell)
            return cost.times(len(parse_block(block)), _ratio(cell, there))
    return None


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


def _ratio(cell: Cell, there: Cell) -> float:
    """How much more a cell counts than it did elsewhere."""
    ratio = 1.0
    for _, here, other, counted in changed(cell, there):
        if counted and other:
            ratio *= here / other
    return ratio


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


def sentences(costs: Sequence[Cost], unknown: int, cores: int, hours: float) -> list[str]:
    """Core-hours, memory, disk, and how many nodes are done in time, for runs of these costs."""
    said = []
    if costs:
        seconds = [cost.seconds for cost in costs]
        longest = max(seconds)
        said.append(
            f"{len(costs)} runs take about {duration(core_hours(costs))} of core time, "
            f"{duration(makespan(seconds, cores) / 3600)} on {cores} cores; the longest "
            f"{duration(longest / 3600)}. Up to {max(c.memory_mb for c in costs):.0f} MB of "
            f"memory a job, {sum(c.disk_mb for c in costs):.2g} MB of disk."
        )
        count = nodes(seconds, cores, hours * 3600)
        said.append(
            f"The longest is not done within {hours:g} h, on however many nodes."
            if count is None
            else f"Nodes of {cores} cores that are done within {hours:g} h: {count}."
        )
    if unknown:
        said.append(f"{unknown} runs are not counted: nothing like them has been run here.")
    return said


def core_hours(costs: Iterable[Cost]) -> float:
    return sum(cost.seconds + START_UP for cost in costs) / 3600


def duration(hours: float | None) -> str:
    """12 s, 3.4 min or 5.6 h; or that it is unknown."""
    return "unknown" if hours is None else span(hours * 3600)
