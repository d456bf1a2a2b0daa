"""A seed alone is the seed in any block, bit for bit: every algorithm, every family, every metric.

And so it is with the instruction sets of other processors, which other processes here try.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from pfedrl.core.processor import NUMBA
from pfedrl.core.registry import components
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.verify import measured
from tests.tiny import ROOT, every_short_run

SEED = 3  # not the one with the largest reward: a maximum over the block would hide there
BLOCKS = (range(3, 4), range(3, 5), range(5))  # of 1, 2 and 5 seeds, that seed among them

CELLS = every_short_run()


def measured_in(cell: Cell, seeds: range) -> dict[str, np.ndarray]:
    """The columns of one seed, in a block."""
    columns = measured(cell, seeds)
    return {name: column[columns["seed"] == SEED] for name, column in columns.items()}


@pytest.mark.parametrize("name", CELLS)
def test_a_seed_alone_is_the_seed_in_any_block(name: str):
    alone, *together = (measured_in(CELLS[name], seeds) for seeds in BLOCKS)
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
