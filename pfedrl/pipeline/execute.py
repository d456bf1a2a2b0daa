"""Execute one job: build a family's draws, or run a cell on a block of seeds."""

import gc
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.recorder import Recorder
from pfedrl.envs.family import Draws
from pfedrl.pipeline.artifact import write_run
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.provenance import Stopwatch, provenance
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.loop import Control

BUILT_FOR = "built_for"  # what the draws of a file are draws of
LONGEST_FAREWELL = 10  # seconds


def _built_for(cell: Cell, seeds: range) -> str:
    return f"{cell.draws_name()}, seeds {seeds.start}-{seeds.stop}"


def build(cell: Cell, seeds: range, output: Path) -> None:
    """Draw the members of the cell's family and keep them."""
    assert cell.family is not None
    drawn = {BUILT_FOR: np.array(_built_for(cell, seeds)), **cell.family.draw(seeds)}
    with atomic_write(output) as temporary:
        np.savez(temporary, allow_pickle=False, **drawn)


def read_draws(path: Path, cell: Cell, seeds: range) -> Draws:
    """The draws of a file, if they are those of the cell and the seeds."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            draws = dict(stored)
            built_for = str(draws.pop(BUILT_FOR))
    except (OSError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise PfedrlError(
            f"{path}: the environments cannot be read ({error}). "
            f"Rebuild them: rm {path} && snakemake --cores all {path}",
            exit_code=BROKEN_ARTIFACT,
        ) from None
    if built_for != (needed := _built_for(cell, seeds)):
        raise PfedrlError(f"{path}: holds {built_for}; this run needs {needed}.")
    return draws


def await_workers() -> None:
    """Worker processes end with the learner that held them; only then is their time known."""
    gc.collect()
    for worker in multiprocessing.active_children():
        worker.join(timeout=LONGEST_FAREWELL)


def run(
    cell: Cell,
    seeds: range,
    output: Path,
    draws: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    checkpoint_seconds: float = 60.0,
) -> None:
    """Run a cell on a block of seeds and write its artifact."""
    if (reason := cell.skip()) is not None:
        raise PfedrlError(f"{cell.experiment}/{cell.name} cannot run: {reason}.")
    stopwatch = Stopwatch()
    drawn: Draws = {}
    if cell.family is not None:
        drawn = cell.family.draw(seeds) if draws is None else read_draws(draws, cell, seeds)
    recorder = Recorder(seeds)
    checkpoint = Checkpoint(
        output.with_suffix(".checkpoint"), f"{cell.key()} {seeds}", checkpoint_seconds
    )
    control = Control(cell.curve_points, checkpoint, progress)
    cell.runnable.run(seeds, cell.family, drawn, recorder, control)
    await_workers()
    names = {
        "experiment": cell.experiment,
        "algorithm": cell.algorithm,
        "family": cell.family_name,
    }
    facts = provenance(
        stopwatch,
        paper=cell.paper,
        experiment=cell.experiment,
        cell=cell.name,
        variant=cell.variant,
        sweep=cell.sweep,
        settings=cell.settings(),
        seeds=[seeds.start, seeds.stop],
    )
    write_run(output, recorder, names, facts)
    checkpoint.remove()
