"""The project as it is, in a folder of its own."""

from functools import cache
from pathlib import Path

from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import short_runs

ROOT = Path(__file__).parent.parent


class Killed(BaseException):
    """As sudden as a signal."""


def tiny_project(folder: Path, published: bool = False) -> Project:
    """In an empty folder: what runs there, mostly at the scale `tiny`, leaves nothing here.

    Nothing was run there either; the published runs are there if they are wanted.
    """
    (folder / "workflow").symlink_to(ROOT / "workflow")
    (folder / "envs").symlink_to(ROOT / "envs")
    if published:
        (folder / "results").mkdir()
        (folder / "results" / "published").symlink_to(ROOT / "results" / "published")
    return Project.here(folder)


@cache
def every_short_run() -> dict[str, Cell]:
    """The short runs of the project as it is, for all files that go through them."""
    return short_runs(Project.here(ROOT))
