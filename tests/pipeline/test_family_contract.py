"""Every family holds its contract, and what breaks it is found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core import registry
from pfedrl.core.registry import components
from pfedrl.pipeline.family_contract import check, is_family
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

PROJECT = Project.here(ROOT)
# where the defaults of envs/ leave all members alike, or say too little
SETTINGS = {
    "reacher": {"target_cells": True},
    "gym_any": {"agents": 3, "cap": 30},
    "figure_eight": {"horizon": 6},
}
CHECKED = sorted(components("envs").keys() - {"labelled_data"})  # there nothing is stepped


@pytest.fixture
def outside() -> Iterator[None]:
    yield
    for room in registry.OUTSIDE.values():
        room.clear()


def failing(given: str, settings: dict) -> dict[str, list[str]]:
    return {name: faults for name, faults, _ in check(PROJECT, given, settings) if faults}


@pytest.mark.parametrize("name", CHECKED)
def test_every_family_holds_the_contract(name: str):
    assert failing(name, SETTINGS.get(name, {})) == {}


def test_a_parameter_of_gymnasium_that_changes_nothing_is_found():
    """gymnasium's CartPole takes the sum of its masses once, when it is made."""
    parameters = {name: {"low": 0.2, "high": 0.8} for name in ("masscart", "gravity")}
    found = failing("gym_any", {"agents": 3, "parameters": parameters})
    assert found == {
        "every parameter changes an episode": [
            "the parameter masscart is drawn, and changes no episode"
        ]
    }


BROKEN = {
    "deaf": (
        "def parameters(self, number):\n        return super().parameters(0 * number + 0.5)",
        "what members differ in is drawn, and changes no episode",
    ),
    "restless": (
        "def task(self, draws):\n        return Restless(*vars(super().task(draws)).values())",
        "a step moves rows that rest",
    ),
    "forgetful": (
        "def task(self, draws):\n        return Forgetful(*vars(super().task(draws)).values())",
        "state() lacks something",
    ),
}  # fmt: skip
FILE = """
from typing import ClassVar
import numpy as np
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.envs.classic.task import ControlEnvironments, ControlTask
from pfedrl.envs.family import Family

class Moving(ControlEnvironments):
    def step(self, action, active):
        super().step(action, np.ones_like(active))

class Losing(ControlEnvironments):
    def restore(self, state):
        super().restore(state | {{"states": 0 * state["states"]}})

class Restless(ControlTask):
    def evaluation(self, members):
        return Moving(self.physics, members)

class Forgetful(ControlTask):
    def evaluation(self, members):
        return Losing(self.physics, members)

class {name}(CartPole):
    label: ClassVar[str] = "Mine"

    {method}
"""


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_family_is_found(tmp_path: Path, outside: None, kind: str):
    method, fault = BROKEN[kind]
    path = tmp_path / f"{kind}_poles.py"
    path.write_text(FILE.format(name=f"{kind.capitalize()}Poles", method=method))
    assert is_family(str(path))
    found = failing(str(path), {"agents": 3, "low": 0.2, "high": 0.8, "cap": 30})
    assert any(fault in one for faults in found.values() for one in faults), found


def test_the_command_checks_families_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    found = CliRunner().invoke(app, ["check", "cartpole", "--set", "agents=3"])
    assert found.exit_code == 0 and found.output.count("ok  ") == 5, found.output
    assert not is_family("dqn_avg")
