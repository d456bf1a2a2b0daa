"""Published cells that were made again: results/published/confirmed.json.

A fingerprint tells that code changed, not that numbers did. Where a published seed was made again
and came out with the same bits, the record says so: by which code, on whose processor. It counts
only as long as that code is the code here and the published file is the one it was compared with.
"""

import fcntl
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.processor import maker
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.provenance import commit
from pfedrl.pipeline.published import FOLDER, SCALES, published_folder, published_runs, scale_of
from pfedrl.pipeline.records import Records, read_records, write_records

FILE = FOLDER / "confirmed.json"


class Made(NamedTuple):
    """A published cell, and the file whose first seed is made again."""

    scale: str
    cell: Cell
    path: Path

    @property
    def key(self) -> str:
        cell = self.cell
        return "/".join([self.scale, cell.paper, cell.experiment, cell.name])


def record(project: Project, made: Made, seed: int) -> None:
    """That the code here made a seed of a cell again, with the same bits."""
    found = {"seed": seed, "file": _digest(made.path), "code": run_code(made.cell),
             "processor": maker(), "commit": commit()}  # fmt: skip
    lock = (project.root / FILE).with_suffix(".lock")
    with lock.open("w") as held:  # a second process may write too
        fcntl.flock(held, fcntl.LOCK_EX)
        write_records(project.root, FILE, read_records(project.root, FILE) | {made.key: found})


def confirmed_seed(records: Records, made: Made) -> int | None:
    """The seed of a cell that the code here made again with the same bits, if there is one."""
    kept = records.get(made.key)
    if kept is None or kept["code"] != run_code(made.cell) or kept["file"] != _digest(made.path):
        return None
    return kept["seed"]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:20]


def published_cells(project: Project, paper: str, experiment: str) -> dict[str, list[Cell]]:
    """Scale to the cells of an experiment that have published runs there."""
    return {
        scale: [
            cell
            for cell in cells(project, paper, experiment, scale)
            if any(published_folder(project.root, scale, cell).glob("*.parquet"))
        ]
        for scale in SCALES
        if project.budget(project.scale(scale), paper, experiment) is not None
    }


def first_runs(project: Project, paper: str, experiment: str) -> Iterator[Made]:
    """Every published cell of an experiment, at every scale."""
    for scale, found in published_cells(project, paper, experiment).items():
        for cell in found:
            yield Made(scale, cell, published_runs(project.root, scale, cell)[0])


def of_the_code_here(project: Project, made: Made) -> bool:
    """Whether all of a cell's published runs were made by the code here."""
    runs = published_runs(project.root, made.scale, made.cell)
    return all(read_facts(run)["code"] == run_code(made.cell) for run in runs)


def code_behind(project: Project, paper: str, experiment: str) -> dict[str, str]:
    """Scale to what is to be said of the code behind an experiment's published runs there."""
    records = read_records(project.root, FILE)
    return {
        scale: _words(project, records, scale, found)
        for scale, found in published_cells(project, paper, experiment).items()
        if found
    }


def code_on_page(project: Project) -> dict[tuple[str, str], str]:
    """The same of every paper and experiment on the page, at the scale that is shown there."""
    return {
        (paper, experiment): code_behind(project, paper, experiment)[scale]
        for paper, page in project.papers.items()
        for experiment in page.experiments
        if (scale := scale_of(project, paper, experiment)) is not None
    }


def _words(project: Project, records: Records, scale: str, found: list[Cell]) -> str:
    other = []
    for cell in found:
        try:
            made = Made(scale, cell, published_runs(project.root, scale, cell)[0])
        except PfedrlError as error:
            if error.exit_code == BROKEN_ARTIFACT:
                raise
            return f"the settings of {cell.name} have changed since"
        if not of_the_code_here(project, made):
            other.append(made)
    if not other:
        return "this version of the code"
    seeds = [seed for made in other if (seed := confirmed_seed(records, made)) is not None]
    said = f"another version of the code in {len(other)} of {len(found)} cells"
    if not seeds:
        return said
    which = ", ".join(map(str, sorted(set(seeds))))
    count = "" if len(seeds) == len(other) else f" ({len(seeds)} of these cells)"
    return f"{said}; seed {which} rerun with this version{count}: same bits"
