"""Expansion: names, blocks, shared draws, and what a scale may change."""

from pathlib import Path

import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import Cell, cells, draws_path, parse_block
from pfedrl.pipeline.store import run_path
from tests.projects import AVERAGING, EXPERIMENT, project

SWEPT = EXPERIMENT | {
    "sweep": {"family.kappa": [0, 0.25], "algorithm.local_steps": [1, 4]},
    "variants": {
        "qavg": AVERAGING,
        "slow": {**AVERAGING, "algorithm": "qavg"},
        "random_policy": {},
    },
}


def expand(root: Path, seeds: int = 20, block: int = 8) -> dict[str, Cell]:
    budget = {"default": {"seeds": seeds, "block": block}}
    made = project(root, edits={"experiments/e": SWEPT, "scale/papers/p": budget})
    return {cell.name: cell for cell in cells(made, "p", "e", "s")}


def test_names_say_the_variant_and_the_point(tmp_path: Path):
    names = list(expand(tmp_path))
    assert "qavg_local_steps=1_kappa=0.25" in names
    assert "slow_local_steps=4_kappa=0" in names
    # a control without the swept key is the same at every point, and runs once
    assert [name for name in names if name.startswith("random")] == [
        "random_policy_kappa=0", "random_policy_kappa=0.25",
    ]  # fmt: skip
    assert len(names) == 10


def test_blocks_cover_the_seeds_and_keep_their_names(tmp_path: Path):
    cell = next(iter(expand(tmp_path).values()))
    assert cell.blocks() == ["0-8", "8-16", "16-20"]
    more = next(iter(expand(tmp_path, seeds=32).values()))
    assert more.blocks() == ["0-8", "8-16", "16-24", "24-32"]


def test_cells_that_differ_after_drawing_share_draws(tmp_path: Path):
    found = expand(tmp_path)
    assert len({draws_path(cell, "0-8") for cell in found.values()}) == 1


def test_the_key_tells_settings_apart_and_ignores_seeds(tmp_path: Path):
    found = expand(tmp_path)
    runs = {run_path(cell, "0-8") for cell in found.values()}
    assert len(runs) == len({cell.key for cell in found.values()}) == 6  # `slow` is qavg's twin
    more = expand(tmp_path, seeds=32, block=16)
    assert {c.key for c in more.values()} == {c.key for c in found.values()}


def test_seeds_on_the_command_line():
    assert parse_block("0-100") == parse_block("0:100") == range(100)
    for wrong in ["-1-5", "5-5", "9-3", "7", "a-b", ""]:
        with pytest.raises(PfedrlError, match="seeds"):
            parse_block(wrong)
