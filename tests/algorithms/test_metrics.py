"""What every algorithm and statement says it records is what it records."""

from collections.abc import Iterator

import pytest

from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control
from tests.tiny import tiny_project


def representatives(project: Project) -> Iterator[Cell]:
    """A cell for every algorithm or statement, family and set of metrics that the papers have."""
    seen = set()
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            for cell in cells(project, paper, experiment, "tiny"):
                declared = frozenset(cell.runnable.metrics(cell.family))
                sort = (cell.algorithm, cell.family_name, declared)
                if cell.skip() is None and sort not in seen:
                    seen.add(sort)
                    yield cell


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[set[str], set[str]]]:
    """Each representative's name, with the metrics that it recorded and those that it declared."""
    found = {}
    for cell in representatives(tiny_project(tmp_path_factory.mktemp("project"))):
        recorder = Recorder(seeds := range(2))
        draws = {} if cell.family is None else cell.family.draw(seeds)
        cell.runnable.run(seeds, cell.family, draws, recorder, Control(3))
        name = f"{cell.paper}/{cell.experiment}/{cell.name}"
        metrics = set(recorder.columns()["metric"].tolist())
        found[name] = (metrics, cell.runnable.metrics(cell.family))
    return found


def test_what_is_declared_is_what_is_recorded(recorded: dict[str, tuple[set[str], set[str]]]):
    differing = {
        name: {"not declared": metrics - declared, "not recorded": declared - metrics}
        for name, (metrics, declared) in recorded.items()
        if metrics != declared
    }
    assert not differing


def test_the_papers_use_every_algorithm_and_statement(tmp_path):
    used = {cell.algorithm for cell in representatives(tiny_project(tmp_path))}
    assert used == {*components("algorithms"), *components("theory")}
