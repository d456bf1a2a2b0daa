"""What several test rooms share."""

from collections.abc import Callable

import pytest

from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularFamily
from pfedrl.envs.tabular.windy_cliff import WindyCliff
from pfedrl.pipeline.project import Project
from tests.tiny import tiny_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project as it is, with one more scale: tests/tiny.yaml."""
    return tiny_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def tabular_family(project: Project) -> Callable[..., TabularFamily]:
    """A tabular family by name, with its file's settings and some of one's own."""
    classes = {"random_mdp": RandomMDP, "windy_cliff": WindyCliff}

    def make(name: str, **settings: object) -> TabularFamily:
        return classes[name].model_validate(project.family_defaults(name) | settings)

    return make
