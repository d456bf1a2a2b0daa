"""What every algorithm and statement says it records is what it records."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control
from tests.tiny import tiny_project

SEEDS = range(2)


def representatives(project: Project) -> Iterator[tuple[str, Cell]]:
    """A cell for every algorithm or statement, family and set of metrics that the papers have."""
    seen = set()
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            if project.budget(project.scale("tiny"), paper, experiment) is None:
                continue  # it needs data, which not everyone has
            for cell in cells(project, paper, experiment, "tiny"):
                declared = frozenset(cell.runnable.metrics(cell.family))
                sort = (cell.algorithm, cell.family_name, declared)
                if cell.why_not() is None and sort not in seen:
                    seen.add(sort)
                    yield f"{paper}-{experiment}-{cell.name}", cell


FOLDER = TemporaryDirectory()
CELLS = dict(representatives(tiny_project(Path(FOLDER.name))))


@pytest.mark.parametrize("name", CELLS)
def test_what_is_declared_is_what_is_recorded(name: str):
    cell, recorder = CELLS[name], Recorder(SEEDS)
    draws = {} if cell.family is None else cell.family.draw(SEEDS)
    cell.runnable.run(SEEDS, cell.family, draws, recorder, Control(curve_points=3))
    assert set(recorder.columns()["metric"].tolist()) == cell.runnable.metrics(cell.family)


def test_every_registered_component_is_among_them():
    assert {cell.algorithm for cell in CELLS.values()} == {
        *components("algorithms"), *components("theory")
    }  # fmt: skip
