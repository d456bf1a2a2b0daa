"""Execute one job: run a cell on a block of seeds."""

import gc
import multiprocessing
from collections.abc import Callable
from pathlib import Path

from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import Recorder
from pfedrl.core.stopwatch import Stopwatch
from pfedrl.envs.family import Draws
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.environments import check_data, read_draws
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.run_file import here, write_run
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.loop import Control

LONGEST_FAREWELL = 10  # seconds


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
    """Run a cell on a block of seeds and write its run file."""
    if (reason := cell.why_not()) is not None:
        raise PfedrlError(f"{cell.experiment}/{cell.name} cannot run: {reason}.")
    check_data(cell)
    code = run_code(cell)
    stopwatch = Stopwatch()
    drawn: Draws = {}
    if cell.family is not None:
        drawn = cell.family.draw(seeds) if draws is None else read_draws(draws, cell, seeds)
    recorder = Recorder(seeds)
    key = {"code": code, "settings": cell.key, "seeds": f"{seeds.start}-{seeds.stop}"}
    path = output.with_suffix(".checkpoint")
    checkpoint = Checkpoint(path, key, checkpoint_seconds, stopwatch)
    control = Control(cell.curve_points, checkpoint, progress)
    cell.runnable.run(seeds, cell.family, drawn, recorder, control)
    await_workers()
    facts = {
        "settings": cell.settings(), "data": cell.data, "seeds": [seeds.start, seeds.stop],
        "code": code, **here(), **stopwatch.read(),
    }  # fmt: skip
    write_run(output, recorder.columns(), facts)
    checkpoint.remove()
