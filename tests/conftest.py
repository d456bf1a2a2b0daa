"""What several test rooms share."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularFamily
from pfedrl.envs.tabular.windy_cliff import WindyCliff
from pfedrl.pipeline.project import Project

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project as it is, with one more scale: tests/tiny.yaml."""
    root = tmp_path_factory.mktemp("project")
    (root / "workflow").mkdir()
    (root / "workflow" / "papers").symlink_to(ROOT / "workflow" / "papers")
    (root / "envs").symlink_to(ROOT / "envs")
    shutil.copytree(ROOT / "workflow" / "scales", root / "workflow" / "scales")
    shutil.copy(ROOT / "tests" / "tiny.yaml", root / "workflow" / "scales")
    return Project.here(root)


@pytest.fixture(scope="session")
def tabular_family(project: Project) -> Callable[..., TabularFamily]:
    """A tabular family by name, with its file's settings and some of one's own."""
    classes = {"random_mdp": RandomMDP, "windy_cliff": WindyCliff}

    def make(name: str, **settings: object) -> TabularFamily:
        return classes[name].model_validate(project.family_defaults(name) | settings)

    return make
