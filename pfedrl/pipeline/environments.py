"""The draws of a family: made once, kept in a file, and read where they are needed."""

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.envs.data.checksum import arrays_digest
from pfedrl.envs.data.data_sets import path_of
from pfedrl.envs.family import Draws

if TYPE_CHECKING:
    from pfedrl.pipeline.cells import Cell

BUILT_FOR = "built_for"  # what the draws of a file are draws of


def _built_for(cell: "Cell", seeds: range) -> str:
    return f"{cell.draws_name()}, seeds {seeds.start}-{seeds.stop}"


def check_data(cell: "Cell") -> None:
    """Refuse data that are not those of the cell's key."""
    if cell.data is None:
        return
    name = cell.family.data  # type: ignore[union-attr]
    if (found := arrays_digest(name)) != cell.data:
        path = path_of(name)
        raise PfedrlError(
            f"{path}: the data were changed: their checksum is {found}, not {cell.data}. "
            f"Bring them again: rm {path} && pfedrl data fetch {name}",
            exit_code=BROKEN_ARTIFACT,
        )


def build(cell: "Cell", seeds: range, output: Path) -> None:
    """Draw the members of the cell's family and keep them."""
    assert cell.family is not None
    check_data(cell)
    drawn = {BUILT_FOR: np.array(_built_for(cell, seeds)), **cell.family.draw(seeds)}
    with atomic_write(output) as temporary:
        np.savez(temporary, allow_pickle=False, **drawn)


def read_draws(path: Path, cell: "Cell", seeds: range) -> Draws:
    """The draws of a file, if they are those of the cell and the seeds."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            draws = dict(stored)
            built_for = str(draws.pop(BUILT_FOR))
    except (OSError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise PfedrlError(
            f"{path}: the environments cannot be read ({error}). "
            "Give a file that `pfedrl build` wrote, or leave --environments out. "
            f"If the pipeline wrote this one: snakemake --cores all --force {path}",
            exit_code=BROKEN_ARTIFACT,
        ) from None
    if built_for != (needed := _built_for(cell, seeds)):
        raise PfedrlError(f"{path}: holds {built_for}; this run needs {needed}.")
    return draws
