"""The runs of a suite: where they are, which are missing, and making those."""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Layer, Part, Store, block_name, run_path, spans
from pfedrl.suites.suite import Suite, cells_of

RECORD: tuple[Layer, ...] = ("committed",)
LAYERS: tuple[Layer, ...] = (*RECORD, "local")
SHARE = 1000  # steps of progress in a job

Progress = Callable[[int, int], None]


class Job(NamedTuple):
    """Seeds of a cell that were not run."""

    cell: Cell
    seeds: range


def parts_of(
    store: Store, cell: Cell, seeds: Iterable[int], layers: tuple[Layer, ...] = LAYERS
) -> tuple[list[Part], list[int]]:
    """Where the seeds of a cell are, and which are nowhere; runs made here by other code do not
    count."""
    wanted = set(seeds)
    parts = store.find(cell, wanted, layers).parts
    found = [part for part in parts if store.is_current(cell, part)]
    return found, sorted(wanted.difference(*(part.take for part in found)))


def missing(
    project: Project, suite: Suite, only: str | None = None, seeds: range | None = None
) -> Iterator[Job]:
    """What is to be run of a suite; cells that cannot run here are left out."""
    store = Store(project.root)
    for cell in cells_of(project, suite, only):
        if cell.why_not() is None:
            size = cell.budget.block
            for span in spans(parts_of(store, cell, seeds or cell.seeds)[1]):
                for first in range(span.start, span.stop, size):
                    yield Job(cell, range(first, min(first + size, span.stop)))


def make_all(root: Path, jobs: list[Job], cores: int, progress: Progress) -> None:
    """Run all, each as a whole in one of so many processes; finished ones are kept.

    There is nothing to order and nothing to draw, so that a pipeline would only cost its start.
    """
    if not jobs:
        return
    context = multiprocessing.get_context("fork")  # cells of files from outside cannot be pickled
    taken, done = context.Value("i", 0), context.Array("d", len(jobs))
    shared = (root, jobs, taken, done)
    workers = [context.Process(target=_work, args=shared) for _ in range(min(cores, len(jobs)))]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(timeout=0.5)
                progress(round(SHARE * sum(done[:])), SHARE * len(jobs))
    finally:  # interrupted: long runs have checkpoints
        for worker in workers:
            worker.terminate()
    if any(worker.exitcode for worker in workers):
        raise PfedrlError("a run failed; what it said stands above. Finished runs are kept.")


def _work(root: Path, jobs: list[Job], taken: Any, done: Any) -> None:
    """Take one job after the other."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the command ends its workers
    while True:
        with taken.get_lock():
            number, taken.value = taken.value, taken.value + 1
        if number >= len(jobs):
            return

        def progress(now: int, total: int, number: int = number) -> None:
            done[number] = now / max(total, 1)

        job = jobs[number]
        place = root / run_path(job.cell, block_name(job.seeds))
        run(job.cell, job.seeds, place, progress=progress)
        done[number] = 1.0
