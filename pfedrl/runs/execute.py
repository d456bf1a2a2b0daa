"""Execute one job: build a family's draws, or run a cell on a block of seeds."""

from collections.abc import Callable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from pfedrl.envs.base import Draws
from pfedrl.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.runs.artifact import write_run
from pfedrl.runs.cells import Cell
from pfedrl.runs.checkpoint import Checkpoint
from pfedrl.runs.files import atomic_write
from pfedrl.runs.loop import Control
from pfedrl.runs.provenance import Stopwatch, provenance
from pfedrl.runs.recorder import Recorder


def build(cell: Cell, seeds: range, output: Path) -> None:
    """Draw the members of the cell's family and keep them."""
    assert cell.family is not None
    with atomic_write(output) as temporary:
        np.savez(temporary, allow_pickle=False, **cell.family.draw(seeds))


def read_draws(path: Path) -> Draws:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, BadZipFile, ValueError, EOFError) as error:
        raise PfedrlError(
            f"{path}: the environments cannot be read ({error}). "
            f"Rebuild them: rm {path} && snakemake --cores all {path}",
            exit_code=BROKEN_ARTIFACT,
        ) from None


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
        drawn = cell.family.draw(seeds) if draws is None else read_draws(draws)
    recorder = Recorder(seeds)
    checkpoint = Checkpoint(
        output.with_suffix(".checkpoint"), f"{cell.key()} {seeds}", checkpoint_seconds
    )
    control = Control(cell.curve_points, checkpoint, progress)
    cell.runnable.run(seeds, cell.family, drawn, recorder, control)
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
