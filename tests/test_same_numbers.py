"""A seed alone is the seed in any block, bit for bit: every algorithm, every family, every metric.

And so it is with the instruction sets of other processors, which other processes here try.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from pfedrl.core.processor import NUMBA
from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control
from tests.tiny import ROOT, tiny_project

SEED = 2
BLOCKS = (range(2, 3), range(2, 4), range(5))  # of 1, 2 and 5 seeds, that seed among them
SWITCHES = ("unit", "step_size", "graph")  # settings that choose another way through the code


def kinds_of_cells(project: Project) -> Iterator[tuple[str, Cell]]:
    """One cell of every algorithm on every family that it runs on, under each of its switches."""
    families, runnables = {}, {}
    for paper, spec in project.papers.items():
        for experiment in spec.experiments:
            for cell in cells(project, paper, experiment, "tiny"):
                switches = [str(getattr(cell.runnable, name, "")) for name in SWITCHES]
                endless = getattr(cell.runnable, "local_steps", 0) == float("inf")
                switches.append("alone" if endless else "")
                families.setdefault(cell.family_name, cell)
                runnables.setdefault((cell.algorithm, *switches), {})[cell.family_name] = cell
    for (algorithm, *switches), own in runnables.items():
        for name, other in families.items():
            if (name == "") != ("" in own):
                continue
            any_cell = next(iter(own.values()))
            cell = own.get(name) or replace(any_cell, family=other.family, family_name=name)
            if cell.skip() is None:
                yield "-".join(filter(None, [algorithm, name, *switches])), cell


FOLDER = TemporaryDirectory()
CELLS = dict(kinds_of_cells(tiny_project(Path(FOLDER.name))))


def measured(cell: Cell, seeds: range) -> dict[str, np.ndarray]:
    """The columns of one seed, in a block."""
    recorder = Recorder(seeds)
    draws = {} if cell.family is None else cell.family.draw(seeds)
    cell.runnable.run(seeds, cell.family, draws, recorder, Control(curve_points=3))
    columns = recorder.columns()
    return {name: column[columns["seed"] == SEED] for name, column in columns.items()}


@pytest.mark.parametrize("name", CELLS)
def test_a_seed_alone_is_the_seed_in_any_block(name: str):
    alone, *together = (measured(CELLS[name], seeds) for seeds in BLOCKS)
    for among in together:
        for column in alone:
            np.testing.assert_array_equal(alone[column], among[column], err_msg=column)


def test_every_registered_component_is_among_them():
    assert {cell.algorithm for cell in CELLS.values()} == {
        *components("algorithms"), *components("theory")
    }  # fmt: skip
    assert {cell.family_name for cell in CELLS.values()} == {"", *components("envs")}


@pytest.mark.parametrize(
    "variables",
    [{"ATEN_CPU_CAPABILITY": "default"}, {"NUMBA_CPU_NAME": "generic"}],
    ids=lambda variables: "=".join(*variables.items()),
)
def test_so_it_is_with_other_instruction_sets(variables: dict[str, str]):
    """In a process of its own, a method each: the libraries choose when they are imported."""
    names = ("fed_kl-reacher", "lfrl-cartpole-step", "pfedtd_rep-cliff_walking", "qavg-random_mdp")
    wanted = [name for name in CELLS if name.startswith(names)]
    environment = {key: value for key, value in os.environ.items() if key not in NUMBA}
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist",
         *(f"{__file__}::{test_a_seed_alone_is_the_seed_in_any_block.__name__}[{name}]"
           for name in wanted)],
        cwd=ROOT, env=environment | variables, capture_output=True, text=True,
    )  # fmt: skip
    assert f"{len(wanted)} passed" in found.stdout, found.stdout + found.stderr
