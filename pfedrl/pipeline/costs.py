"""What jobs should cost in processor time, memory and disk, by what earlier runs measured.

A run with the same key costs as much per seed as it did. Otherwise a run of the same method on the
same family, with counts and networks at least as large, is scaled by the length of the training.
results/published/rates.json has short trainings with the papers' own settings for this. Nothing is
extrapolated from small networks to large ones, or from few agents to many.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import ceil, log, prod
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from pfedrl.core.durations import NEVER_RUN, START_UP, makespan, not_counted, span
from pfedrl.core.registry import module_of
from pfedrl.envs.data import clusters
from pfedrl.pipeline.cells import Cell, cells, parse_block
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import COMMITTED, Store

SHORT = 60  # seconds; below that, starting a job costs as much as the job
SHORTEST, LONGEST = 10, 24 * 60  # minutes that a batch system is asked for
SLACK = 3  # times the expected time and 1.5 times the memory: processors and loads differ
UNKNOWN_MINUTES, UNKNOWN_MB = 12 * 60, 2000  # asked for where nothing was measured
RATES = COMMITTED / "rates.json"
# the length of a training is the product of those settings that the algorithm and family have; it
# is named by the first
LENGTHS = ("frames", "communication_rounds", "training_rounds", "iterations", "episodes",
           "local_iterations", "train_samples")  # fmt: skip
SAMPLES = {  # of the training data, as pages show costs where the data are not
    "clusters": clusters.TRAIN, "fashion_mnist": 60_000, "cifar10": 50_000, "cifar100": 50_000,
    "hapt": 6_197,
}  # fmt: skip
AFTERWARDS = ("adapt_frames", "adapt_episodes")  # in new environments; proportional to the length


@dataclass(frozen=True)
class Cost:
    """Of one job, or of a seed of it."""

    seconds: float
    memory_mb: float
    disk_mb: float


class Measured(NamedTuple):
    """What one seed took in some run."""

    settings: dict[str, Any]
    seconds: float  # in proportion to the length
    besides: float  # whatever the length
    process_mb: float  # whatever the number of seeds
    seed_mb: float
    disk_mb: float

    def of(self, seeds: int, times: float = 1.0) -> Cost:
        return Cost(
            seeds * (self.besides + self.seconds * times),
            self.process_mb + seeds * self.seed_mb,
            seeds * self.disk_mb,
        )


@dataclass(frozen=True)
class Known:
    """What the committed runs below a project's folder, and its rates, have measured."""

    root: Path

    def cost(self, cell: Cell, seeds: int) -> Cost | None:
        """What so many seeds of a cell should cost; None where nothing like it was measured."""
        if (own := self._runs.get(cell.folder)) is not None:
            return own.of(seeds)
        settings = cell.settings()
        alike = [
            found
            for found in self._by_method.get(_method(settings), ())
            if _covers(found.settings, settings)
        ]
        if not alike:
            return None
        nearest = min(alike, key=lambda found: _distance(found.settings, settings))
        return nearest.of(seeds, _times_as_long(settings, nearest.settings))

    @cached_property
    def _runs(self) -> dict[str, Measured]:
        """By folder of the store, what a seed of a committed run took."""
        found = {}
        for folder, entry in Store(self.root).manifest.items():
            files = entry["files"].values()
            seeds = sum(len(parse_block(block)) for block in entry["files"])
            seconds = sum(file["cpu_seconds"] for file in files) / seeds
            memory = max(file["peak_memory_mb"] for file in files)
            disk = sum(file["bytes"] for file in files) / 1e6 / seeds
            found[folder] = Measured(entry["settings"], seconds, 0.0, memory, 0.0, disk)
        return found

    @cached_property
    def _by_method(self) -> dict[tuple[str, str], list[Measured]]:
        found: dict[tuple[str, str], list[Measured]] = {}
        path = self.root / RATES
        rates = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        for one in (*self._runs.values(), *(Measured(**rate) for rate in rates)):
            found.setdefault(_method(one.settings), []).append(one)
        return found


def _method(settings: Mapping[str, Any]) -> tuple[str, str]:
    """The folder of the algorithm, whose algorithms train in the same way, and the family."""
    try:
        module = module_of(settings["algorithm"]["name"])
    except KeyError:  # it has been removed since
        module = ""
    return module.rpartition(".")[0], (settings["family"] or {}).get("name", "")


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    parts = (settings["algorithm"], settings["family"] or {})
    return {key: value for part in parts for key, value in part.items() if key != "name"}


def _covers(measured: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether a run had no less of anything than is asked for, its length apart."""
    theirs = _flat(measured)
    return all(
        theirs.get(name, value) == value
        or (isinstance(value, int) and isinstance(theirs[name], int) and value <= theirs[name])
        for name, value in _flat(asked).items()
        if name not in (*LENGTHS, *AFTERWARDS) and not isinstance(value, float | list)
    )


def _distance(measured: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[bool, int, float]:
    """Another algorithm, then the number of other settings, then the difference in length."""
    theirs, ours = _flat(measured), _flat(asked)
    other = [name for name, value in ours.items() if theirs.get(name) != value]
    same = measured["algorithm"]["name"] == asked["algorithm"]["name"]
    times = abs(log(_times_as_long(asked, measured)))
    return not same, len({*other} - {*LENGTHS, *AFTERWARDS}), times


def _times_as_long(settings: Mapping[str, Any], than: Mapping[str, Any]) -> float:
    """The length of a training, as a multiple of another's."""
    ours, theirs = _flat(settings), _flat(than)
    data = ours.get("data", "")
    return prod(
        _count(ours[name], data) / _count(theirs[name], data)
        for name in LENGTHS
        if name in ours and name in theirs and ours[name] != theirs[name]
    )


def _count(length: Any, data: str) -> int:
    if length == "all":
        return SAMPLES[data]
    return length or 1  # 0: its length is counted in another setting


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


def nodes(seconds: Sequence[float], cores: int, within: float) -> int:
    """How many nodes of so many cores are done in time, if every job alone is."""
    fewest = max(ceil(sum(seconds) / within / cores), 1)
    return next(n for n in count(fewest) if makespan(seconds, n * cores) <= within)


@dataclass(frozen=True)
class Bill:
    """What a paper's runs cost, and how many cannot be counted, by the reason."""

    costs: list[Cost]
    uncounted: Counter[str]


def bills(project: Project, scale: str) -> dict[str, Bill]:
    """By paper, all runs of a scale; cells that share a run are counted once."""
    known = Known(project.root)
    found = {paper: Bill([], Counter()) for paper in project.papers}
    counted: set[str] = set()
    for paper, experiment in project.experiments_at(scale):
        for cell in cells(project, paper, experiment, scale):
            if cell.folder in counted:
                continue
            counted.add(cell.folder)
            reason = cell.why_not()
            for block in cell.blocks():
                cost = None if reason else known.cost(cell, len(parse_block(block)))
                if cost is None:
                    found[paper].uncounted[reason or NEVER_RUN] += 1
                else:
                    found[paper].costs.append(cost)
    return {paper: bill for paper, bill in found.items() if bill.costs or bill.uncounted}


def table(found: dict[str, Bill]) -> Table:
    """A row for each paper."""
    made = Table("paper", box=None, pad_edge=False)
    for column in ("runs", "core time", "the longest", "memory", "disk", "not counted"):
        made.add_column(column, justify="right")
    for paper, bill in found.items():
        costs, known = bill.costs, [""] * 4
        if costs:
            known = [
                duration(core_hours(costs)),
                span(max(cost.seconds for cost in costs)),
                f"{max(cost.memory_mb for cost in costs) / 1000:.1f} GB",
                disk(sum(cost.disk_mb for cost in costs)),
            ]
        made.add_row(paper, f"{len(costs):,}", *known, str(bill.uncounted.total() or ""))
    return made


def sentences(
    costs: Sequence[Cost], uncounted: Mapping[str, int], cores: int, hours: float
) -> Iterator[str]:
    """Core-hours, memory, disk, how many nodes are done in time, and what is not counted."""
    if costs:
        seconds, within = [cost.seconds for cost in costs], hours * 3600
        yield (
            f"{len(costs)} runs take about {duration(core_hours(costs))} of core time, "
            f"{span(makespan(seconds, cores))} on {cores} cores; the longest "
            f"{span(max(seconds))}. Up to {max(c.memory_mb for c in costs):.0f} MB of "
            f"memory per job, {disk(sum(c.disk_mb for c in costs))} of disk."
        )
        if (alone := max(seconds) + START_UP) > within:
            yield f"The longest run alone takes more than {hours:g} h, on any number of nodes."
            within = alone
        needed = nodes(seconds, cores, within)
        yield f"Nodes of {cores} cores needed to finish within {span(within)}: {needed}."
    for reason, runs in uncounted.items():
        yield not_counted(runs, reason)


def disk(megabytes: float) -> str:
    """0.12 MB, 7.6 MB or 140 MB."""
    return f"{megabytes:.2g} MB" if megabytes < 10 else f"{megabytes:,.0f} MB"


def core_hours(costs: Iterable[Cost]) -> float:
    return sum(cost.seconds + START_UP for cost in costs) / 3600


def duration(hours: float | None) -> str:
    """12 s, 3.4 min or 5.6 h; or that it is unknown."""
    return "unknown" if hours is None else span(hours * 3600)
