"""A seed alone is the seed in any block, bit for bit: every algorithm, every family, every metric.

And so it is with the instruction sets of other processors, which other processes here try.
"""

import os
import subprocess
import sys

import pytest

from pfedrl.core.processor import NUMBA
from pfedrl.core.registry import components
from pfedrl.pipeline.contract import seed_alone
from tests.tiny import ROOT, every_short_run

CELLS = every_short_run()


@pytest.mark.parametrize("name", CELLS)
def test_a_seed_alone_is_the_seed_in_any_block(name: str):
    assert not list(seed_alone(CELLS[name]))


def test_every_registered_component_is_among_them():
    assert {cell.algorithm for cell in CELLS.values()} == {
        *components("algorithms"), *components("theory")
    }  # fmt: skip
    # gym_any steps what others made: tests/envs/gymnasium_tasks has seeds alone and in a block
    assert {cell.family_name for cell in CELLS.values()} == {"", *components("envs")} - {"gym_any"}


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
