"""Cells that an earlier experiment of their paper has too: run once there, and taken over.

A reading of what a paper leaves open changes one algorithm of three; the other two are those of the
paper's own experiment, and a seed's numbers are the same bits whatever seeds it runs among.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pfedrl.core.errors import PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.seal import sealed
from pfedrl.pipeline.artifact import KEY, read_run
from pfedrl.pipeline.cells import Cell, cells, parse_block, run_path
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project


def twin_of(project: Project, cell: Cell, scale: str) -> Cell | None:
    """The earlier cell with the same settings and no fewer seeds, or None."""
    return _twins(project, cell.paper, scale).get((cell.experiment, cell.name))


@cache
def _twins(project: Project, paper: str, scale: str) -> dict[tuple[str, str], Cell]:
    owners: dict[str, Cell] = {}
    found = {}
    for cell in _cells(project, paper, scale):
        owner = owners.get(cell.key())
        if owner is not None and owner.budget.seeds >= cell.budget.seeds:
            found[cell.experiment, cell.name] = owner
        else:
            owners[cell.key()] = cell
    return found


def _cells(project: Project, paper: str, scale: str) -> Iterator[Cell]:
    for experiment in project.paper(paper).experiments:
        if project.budget(project.scale(scale), paper, experiment) is not None:
            yield from cells(project, paper, experiment, scale)


def runs_with(scale: str, owner: Cell, block: str) -> list[Path]:
    """The owner's runs that have the seeds of a block."""
    seeds = set(parse_block(block))
    return [run_path(scale, owner, own) for own in owner.blocks() if seeds & set(parse_block(own))]


def take_rows(cell: Cell, seeds: range, runs: Sequence[Path], output: Path) -> None:
    """Write a cell's artifact from runs of its twin: their rows of these seeds, under its name."""
    found = [read_run(path) for path in runs]
    for path, (_, facts) in zip(runs, found, strict=True):
        if (facts["settings"], facts["code"]) != (cell.settings(), run_code(cell)):
            raise PfedrlError(
                f"{path}: has other settings or other code than {cell.experiment}/{cell.name}, "
                "so its rows cannot be reused. Leave --from out to run the cell itself."
            )
    table = pa.concat_tables([rows for rows, _ in found]).unify_dictionaries()
    table = table.filter(pc.is_in(table["seed"], pa.array(seeds, table["seed"].type)))
    if missing := sorted(set(seeds) - set(pc.unique(table["seed"]).to_pylist())):
        raise PfedrlError(f"{', '.join(map(str, runs))}: has no seed {missing[0]}.")
    names = pa.array([cell.experiment] * len(table)).dictionary_encode()
    table = table.set_column(table.column_names.index("experiment"), "experiment", names)
    # what these seeds took where they were run; that they were not run again is said
    share = len(seeds) / sum(len(range(*facts["seeds"])) for _, facts in found)
    seconds = {
        key: round(share * sum(facts[key] for _, facts in found), 3)
        for key in ("wall_seconds", "cpu_seconds")
    }
    facts = found[0][1] | seconds | {
        "experiment": cell.experiment, "cell": cell.name, "variant": cell.variant,
        "sweep": cell.sweep, "seeds": [seeds.start, seeds.stop], "rows": len(table),
        "peak_memory_mb": max(facts["peak_memory_mb"] for _, facts in found),
        "taken_from": found[0][1]["experiment"] + "/" + found[0][1]["cell"],
    }  # fmt: skip
    table = table.replace_schema_metadata({KEY: json.dumps(sealed(facts, table.schema)).encode()})
    with atomic_write(output) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)
