"""The project as it is, in a folder of its own."""

from pathlib import Path

from pfedrl.pipeline.project import Project

ROOT = Path(__file__).parent.parent


def tiny_project(folder: Path) -> Project:
    """In an empty folder: what runs there, mostly at the scale `tiny`, leaves nothing here."""
    (folder / "workflow").symlink_to(ROOT / "workflow")
    (folder / "envs").symlink_to(ROOT / "envs")
    return Project.here(folder)
