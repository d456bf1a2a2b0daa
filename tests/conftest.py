"""What several test rooms share."""

# ruff: noqa: E402
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

# what pytest and its plugins imported before pfedrl could tell it which instruction set to use
TOO_EARLY = {"numpy", "torch", "numba", "pyarrow"} & sys.modules.keys()

from pfedrl.core import registry
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularFamily
from pfedrl.envs.tabular.windy_cliff import WindyCliff
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT, tiny_project

settings.register_profile("any machine", deadline=None)  # however busy it is
settings.load_profile("any machine")

KERNELS = (  # short runs that call every compiled kernel
    "qavg-random_mdp-plateau", "soft_pavg-random_mdp-plateau", "proj_pavg-random_mdp-plateau",
    "optimal_policy-random_mdp", "pfedtd_rep-cliff_walking", "dqn_avg-cartpole-step",
    "dqn_avg-acrobot-step", "pfed_ddpg_rep-hopper", "fed_kl-reacher",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels, if there are none, before workers start that would all compile them."""
    starts_workers = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if starts_workers and not any((ROOT / "pfedrl").rglob("*.nbi")):
        command = [sys.executable, "-m", "pfedrl", "verify", *KERNELS]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL)


@pytest.fixture
def outside() -> Iterator[None]:
    """What a test takes in from outside of the package is forgotten after it."""
    yield
    for room in registry.OUTSIDE.values():
        room.clear()


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project as it is, in a folder of its own."""
    return tiny_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def tabular_family(project: Project) -> Callable[..., TabularFamily]:
    """A tabular family by name, with its file's settings and some of one's own."""
    classes = {"random_mdp": RandomMDP, "windy_cliff": WindyCliff}

    def make(name: str, **settings: object) -> TabularFamily:
        return classes[name].model_validate(project.family_defaults(name) | settings)

    return make
