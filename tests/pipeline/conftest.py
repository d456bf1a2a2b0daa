"""A project whose runs are here or committed, and ways to tamper with them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pfedrl.core.parquet import KEY, SEAL, read_table, write_table
from pfedrl.pipeline import contract
from pfedrl.pipeline.cells import Cell, cells, find_cell
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import COMMITTED, Store, run_path
from pfedrl.pipeline.verify import Columns, measured
from tests.projects import AVERAGING, project, write_scale

EXPERIMENT = {
    "title": "t",
    "family": {"name": "random_mdp"},
    "curve_points": 16,
    "variants": {
        "qavg": AVERAGING,
        "slow": AVERAGING | {"algorithm": "qavg", "decay": 0.5},
        "random_policy": {},
    },
}
READING = {
    "id": "r", "words": "two local steps", "experiments": ["e"],
    "variants": {"qavg": {"local_steps": 2}, "slow": {}},
}  # fmt: skip
SEEDS = range(4)
MADE: dict[tuple[str, type, range], Columns] = {}  # short runs


@pytest.fixture(scope="module")
def runs_made_once() -> Iterator[None]:
    """An algorithm is compared with all others of its method: each of their runs is made once."""

    def once(cell: Cell, seeds: range) -> Columns:
        if (key := (cell.folder, type(cell.runnable), seeds)) not in MADE:
            MADE[key] = measured(cell, seeds)
        return MADE[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "measured", once)
        yield


def write_record(root: Path, **budget: Any) -> None:
    head = {"scale": "record", "description": "d", "verdicts": True, "makes": False}
    budgets = {"p": {"e": {"seeds": 4, "block": 2, **budget}}}
    write_scale(root, "record", {**head, "reads": ["committed", "local"], "papers": budgets})


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project in which an experiment was run here; not to be changed."""
    root = tmp_path_factory.mktemp("whole")
    page = {"experiments": {"e": EXPERIMENT}, "readings": [READING]}
    made = project(root, page, {"scale/papers/p": {"default": {"seeds": 4, "block": 2}}})
    write_record(root)
    for cell in cells(made, "p", "e", "s"):
        for first in (0, 2):
            path = root / run_path(cell, f"{first}-{first + 2}")
            run(cell, range(first, first + 2), path)
    return root


@pytest.fixture
def local(whole: Path, tmp_path: Path) -> Project:
    """The same, to change."""
    shutil.copytree(whole, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


@pytest.fixture
def committed(local: Project) -> Project:
    """Its runs are committed, and none is here otherwise."""
    for cell in cells(local, "p", "e", "s"):
        publish(local, cell)
    shutil.rmtree(local.root / "results" / "runs")
    return local


def publish(of: Project, cell: Cell, seeds: range = SEEDS) -> list[Path]:
    store = Store(of.root)
    parts = store.find(cell, seeds, ["local"]).parts
    return [path for part in parts if (path := store.add(cell, part)) is not None]


def cell_of(of: Project, name: str = "qavg", scale: str = "s") -> Cell:
    return find_cell(of, "p", "e", name, scale)


def path_of(of: Project, block: str, name: str = "qavg", folder: Path | None = None) -> Path:
    path = run_path(cell_of(of, name), block)
    return of.root / (path if folder is None else folder / path.relative_to(*path.parts[:2]))


def rewrite(path: Path, to: Path | None = None, sealed: bool = True, **changes: Any) -> None:
    """Forge a file: facts, or columns as functions of what they are."""
    table, facts = read_table(path)
    for name, change in changes.items():
        if callable(change):
            at = table.column_names.index(name)
            table = table.set_column(at, name, change(table[name]).cast(table[name].type))
        else:
            facts[name] = change
    if sealed:
        write_table(to or path, table, facts)
    else:
        kept = {KEY: json.dumps({k: v for k, v in facts.items() if k != SEAL}).encode()}
        pq.write_table(table.replace_schema_metadata(kept), to or path)


def tenth(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.multiply(column, pa.scalar(0.1, column.type))


def list_again(of: Project, block: str) -> None:
    """Enter a file into the manifest, as someone would who tampers with both."""
    path = path_of(of, block, folder=COMMITTED)
    cell = cell_of(of)
    Store(of.root).list_file(cell.folder, path.relative_to(of.root), read_table(path)[1])
