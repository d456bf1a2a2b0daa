"""Make the runs of a suite that are nowhere yet."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Layer, Part, Store, block_name, run_path, spans
from pfedrl.suites.suite import Suite, cells_of

LAYERS: tuple[Layer, ...] = ("committed", "local")
Progress = Callable[[int, int], None]


class Job(NamedTuple):
    """Seeds of a cell that were not run."""

    cell: Cell
    seeds: range


def parts_of(store: Store, cell: Cell, seeds: Iterable[int]) -> tuple[list[Part], list[int]]:
    """Where the seeds of a cell are, and which are nowhere; runs made here by other code do not
    count."""
    wanted = set(seeds)
    found = [part for part in store.find(cell, wanted, LAYERS).parts if store.is_current(cell, part)]
    return found, sorted(wanted.difference(*(part.take for part in found)))


def missing(project: Project, suite: Suite, only: str | None = None) -> Iterator[Job]:
    """What is to be run of a suite; cells that cannot run here are left out."""
    store = Store(project.root)
    for cell in cells_of(project, suite, only):
        if cell.why_not() is None:
            size = cell.budget.block
            for span in spans(parts_of(store, cell, cell.seeds)[1]):
                for first in range(span.start, span.stop, size):
                    yield Job(cell, range(first, min(first + size, span.stop)))


def make_all(root: Path, jobs: list[Job], cores: int, progress: Progress) -> None:
    """Run all, each as a whole in one of so many processes; finished ones are kept."""
    if cores == 1:
        for number, job in enumerate(jobs):
            _make(root, job, _share(progress, number, len(jobs)))
        return
    context = multiprocessing.get_context("fork")  # cells of files from outside cannot be pickled
    taken = context.Value("i", 0)
    workers = [context.Process(target=_work, args=(root, jobs, taken)) for _ in range(cores)]
    for worker in workers:
        worker.start()
    for worker in workers:
        while worker.is_alive():
            worker.join(timeout=1)
            progress(max(0, taken.value - cores), len(jobs))
    if any(worker.exitcode for worker in workers):
        raise PfedrlError("a run failed; what it said stands above. Finished runs are kept.")
    progress(len(jobs), len(jobs))


def _make(root: Path, job: Job, progress: Progress = lambda done, total: None) -> None:
    run(job.cell, job.seeds, root / run_path(job.cell, block_name(job.seeds)), progress=progress)


def _share(progress: Progress, before: int, jobs: int) -> Progress:
    """Progress in one of several jobs as progress in all."""
    return lambda done, total: progress(before * 100 + 100 * done // max(total, 1), jobs * 100)


def _work(root: Path, jobs: list[Job], taken: Any) -> None:
    while True:
        with taken.get_lock():
            number, taken.value = taken.value, taken.value + 1
        if number >= len(jobs):
            return
        _make(root, jobs[number])
