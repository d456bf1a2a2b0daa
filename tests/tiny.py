"""The project as it is, with one more scale: tests/tiny.yaml."""

import shutil
from pathlib import Path

from pfedrl.pipeline.project import Project

ROOT = Path(__file__).parent.parent


def tiny_project(folder: Path) -> Project:
    """Made in an empty folder, so that the scale stands beside the others."""
    (folder / "workflow").mkdir()
    (folder / "workflow" / "papers").symlink_to(ROOT / "workflow" / "papers")
    (folder / "envs").symlink_to(ROOT / "envs")
    shutil.copytree(ROOT / "workflow" / "scales", folder / "workflow" / "scales")
    shutil.copy(ROOT / "tests" / "tiny.yaml", folder / "workflow" / "scales")
    return Project.here(folder)
