"""Rates: what the papers' own settings cost, measured on trainings that are far too short to learn.

workflow/scales/rates.yaml cuts the length of an experiment and keeps its nets, batches and agents.
One run at that length and one at twice as much tell what a length costs, and what every run costs
besides: its start, and the look at its end. Memory is that of the agents at their full number, as
they are built. `pfedrl rates` writes results/published/rates.json; no table, figure or verdict
reads it.
"""

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from pfedrl.core.files import atomic_write
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data import clusters, data_sets
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, cells, changed
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import SCALES, published_folder
from pfedrl.pipeline.records import read_records
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.loop import Control

SCALE = "rates"
FILE = Path("results", "published", "rates.json")
# what a training is as long as: the product of those that an algorithm has
LENGTHS = ("frames", "episodes", "communication_rounds", "training_rounds", "iterations",
           "local_iterations")  # fmt: skip
AFTERWARDS = ("adapt_frames", "adapt_episodes")  # in the new environments: grows with the first
DOUBLED = ("frames", "episodes", "communication_rounds", *AFTERWARDS)
SEED = range(1)

Kind = tuple[Any, ...]


@dataclass(frozen=True)
class Rate:
    """Of one seed of a cell."""

    seconds: float  # of processor time, for a training as long as the measured one
    besides: float  # whatever the length
    process_mb: float  # before there are agents
    memory_mb: float  # of a seed's agents
    disk_mb: float
    settings: dict[str, Any]  # of the cell that was measured
    processor: str

    def takes(self, times: float) -> float:
        """Seconds of a training that is so many times as long."""
        return self.besides + self.seconds * times


def amount(cell: Cell) -> float:
    """How long a training is; two cells that differ in length only cost as much more."""
    lengths = [getattr(cell.runnable, name, 1) or 1 for name in LENGTHS]  # 0: counted otherwise
    if isinstance(cell.family, LabelledData):
        lengths.append(_samples(cell.family.data, cell.family.train_samples))
    return prod(lengths)


@cache
def _samples(data: str, wanted: int | str) -> int:
    if isinstance(wanted, int):
        return wanted
    return clusters.TRAIN if data == "clusters" else len(data_sets.read(data, "train_labels")[0])


def kind(cell: Cell) -> Kind:
    """The same for cells of an experiment that are counted as alike: what they count and switch is
    the same. Along a sweep the last, which is the largest, stands for all."""
    return cell.algorithm, *(
        (name, value)
        for settings in (cell.runnable, cell.family)
        for name, value in (settings.said() if settings is not None else {}).items()
        if isinstance(value, int) and name not in cell.sweep
    )


def method(cell: Cell) -> str:
    """The folder of its algorithm: those in it train in the same way."""
    return type(cell.runnable).__module__.rpartition(".")[0]


def rate(project: Project, cell: Cell) -> tuple[Rate, float] | None:
    """What was measured for a cell, and how many times as long the cell is.

    Where its kind was not, the dearest of the same method in its experiment stands in. None where
    there is none, or where the cell is not what its experiment says, but for its length.
    """
    if not (stored := _stored(project.root)):
        return None
    own = _own(project, cell.paper, cell.experiment)[cell.name]
    lengths = (*LENGTHS, *AFTERWARDS)
    if any(name not in lengths for name, *_ in changed(cell, own)):
        return None
    known: dict[Kind, tuple[Rate, float]] = {}
    for other, (full, short) in _pairs(project, cell.paper, cell.experiment).items():
        found = stored.get(_key(full))
        if found is not None and found.settings == short.settings() and method(full) == method(own):
            known[other] = found, amount(cell) / amount(short)
    dearest = max(known.values(), key=lambda found: found[0].takes(found[1]), default=None)
    return known.get(kind(own), dearest)


def _key(cell: Cell) -> str:
    return f"{cell.paper}/{cell.experiment}/{cell.name}"


@cache
def _stored(root: Path) -> dict[str, Rate]:
    return {key: Rate(**value) for key, value in read_records(root, FILE).items()}


@cache
def _own(project: Project, paper: str, experiment: str) -> dict[str, Cell]:
    return {cell.name: cell for cell in cells(project, paper, experiment, None)}


@cache
def _pairs(project: Project, paper: str, experiment: str) -> dict[Kind, tuple[Cell, Cell]]:
    """The last cell of each kind, with its own settings and as it is measured."""
    if project.budget(project.scale(SCALE), paper, experiment) is None:
        return {}
    short = {cell.name: cell for cell in cells(project, paper, experiment, SCALE)}
    return {
        kind(cell): (cell, replace(short[name], curve_points=0))  # the look at the end alone
        for name, cell in _own(project, paper, experiment).items()
        if cell.skip() is None
    }


def measure(
    project: Project, paper: str, experiment: str, again: bool
) -> Iterator[tuple[str, float]]:
    """Measure every kind of cell of an experiment that was never run in full, and keep it.

    Each with the seconds that a seed takes in full. What was measured is measured `again` if asked.
    """
    for own, short in _pairs(project, paper, experiment).values():
        known = _stored(project.root).get(_key(own))
        there = known is not None and known.settings == short.settings()
        if (there and not again) or _published(project.root, own):
            continue
        found = _measured(own, short)
        kept = _stored(project.root) | {_key(own): found}
        with atomic_write(project.root / FILE) as temporary:
            told = {key: asdict(kept[key]) for key in sorted(kept)}
            temporary.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
        _stored.cache_clear()
        yield _key(own), found.takes(amount(own) / amount(short))


def _published(root: Path, cell: Cell) -> bool:
    folders = [published_folder(root, scale, cell) for scale in SCALES]
    paths = [path for folder in folders for path in folder.glob("*.parquet")]
    return any(read_facts(path)["settings"] == cell.settings() for path in paths)


def _measured(own: Cell, short: Cell) -> Rate:
    """In a process of its own, as a job is."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(_measure, own, short).result()


def _measure(own: Cell, short: Cell) -> Rate:
    cut = amount(own) > amount(short)
    process, agents = _built(own) if cut else (0.0, 0.0)
    once = _run(short)
    seconds = 0.0
    if cut:  # by now all is imported and compiled
        seconds = _growth(*(_run(cell)["cpu_seconds"] for cell in (short, _doubled(short))))
    return Rate(
        round(seconds, 3), round(max(once["cpu_seconds"] - seconds, 0.0), 3), round(process, 1),
        round(agents or once["peak_memory_mb"], 1), once["disk_mb"], short.settings(),
        once["processor"],
    )  # fmt: skip


def _growth(short: float, doubled: float) -> float:
    """What the length of a run costs, by its processor time and that of one twice as long.

    If the difference is not between zero and the whole run, one of the two times was disturbed.
    All measured time is then attributed to run length, which may overestimate the cost but never
    gives zero.
    """
    difference = doubled - short
    return difference if 0 < difference <= short else (short + doubled) / 3


def _doubled(cell: Cell) -> Cell:
    runnable = cell.runnable
    longer = {name: 2 * getattr(runnable, name) for name in DOUBLED if hasattr(runnable, name)}
    return replace(cell, runnable=runnable.model_copy(update=longer))


def _run(cell: Cell) -> dict[str, Any]:
    """A run's facts, and the size of its file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.parquet")
        run(cell, SEED, path)
        return {**read_facts(path), "disk_mb": path.stat().st_size / 1e6}


class _StoppedError(Exception):
    """The agents are built, and no round was run."""


class _Stop(Checkpoint):
    """The first thing that a training asks for once its agents are built."""

    def load(self) -> NoReturn:
        raise _StoppedError


def _built(cell: Cell) -> tuple[float, float]:
    """The memory of a process before there are agents, and that of a seed's, in MB.

    Replays are allocated at once and filled by and by, so what counts is what was asked for.
    """
    import torch  # noqa: F401  the process has it, whatever the number of agents

    assert cell.family is not None
    before = _memory()
    control = Control(checkpoint=_Stop(Path(), {}))
    try:
        cell.runnable.run(SEED, cell.family, cell.family.draw(SEED), Recorder(SEED), control)
    except _StoppedError:
        # what the process frees meanwhile may be more than a few small nets take
        return before["VmRSS"], max(_memory()["VmData"] - before["VmData"], 0.0)
    raise AssertionError("a training asks for its checkpoint first")


def _memory() -> dict[str, float]:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return {
        line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith(" kB")
    }
