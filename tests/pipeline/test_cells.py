"""Expansion: names, blocks, shared draws, and what a scale may change."""

from pathlib import Path

import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells, draws_path, find_cell, parse_block
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import run_path
from tests.projects import write_paper, write_scale

ROOT = Path(__file__).parents[2]
AVERAGING = {"iterations": 64, "local_steps": 4, "learning_rate": 0.1, "decay": 0.9}


def project(root: Path, experiment: dict | None = None, budget: dict | None = None) -> Project:
    """A project of one experiment; families come from the real folder."""
    experiment = experiment or {
        "family": {"name": "random_mdp", "around_centre": True},
        "sweep": {"family.kappa": [0, 0.25], "algorithm.local_steps": [1, 4]},
        "variants": {
            "qavg": AVERAGING,
            "slow": {**AVERAGING, "algorithm": "qavg"},
            "random_policy": {},
        },
    }
    page = {"title": "t", "reference": "r"}
    page["experiments"] = {"e": {"title": "t", **experiment}}
    scale = {"scale": "s", "description": "d", "verdicts": False}
    scale["papers"] = {"p": {"default": budget or {"seeds": 20, "block": 8}}}
    write_paper(root, "p", page)
    write_scale(root, "s", scale)
    if not (root / "envs").exists():
        (root / "envs").symlink_to(ROOT / "envs")
    return Project(root)


def expand(*arguments) -> dict:
    return {cell.name: cell for cell in cells(project(*arguments), "p", "e", "s")}


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
    more = next(iter(expand(tmp_path, None, {"seeds": 32, "block": 8}).values()))
    assert more.blocks() == ["0-8", "8-16", "16-24", "24-32"]


def test_cells_that_differ_after_drawing_share_draws(tmp_path: Path):
    found = expand(tmp_path)
    assert len({draws_path(cell, "0-8") for cell in found.values()}) == 1


def test_the_key_tells_settings_apart_and_ignores_seeds(tmp_path: Path):
    found = expand(tmp_path)
    runs = {run_path(cell, "0-8") for cell in found.values()}
    assert len(runs) == len({cell.key for cell in found.values()}) == 6  # `slow` is qavg's twin
    more = expand(tmp_path, None, {"seeds": 32, "block": 16})
    assert {c.key for c in more.values()} == {c.key for c in found.values()}


def test_a_budget_shortens_only_what_an_algorithm_has(tmp_path: Path):
    found = expand(tmp_path, None, {"seeds": 8, "block": 8, "algorithm": {"iterations": 16}})
    assert found["qavg_local_steps=1_kappa=0"].runnable.iterations == 16


def test_an_unknown_cell_gets_the_nearest(tmp_path: Path):
    with pytest.raises(PfedrlError, match=r"Did you mean 'qavg_local_steps=1_kappa=0"):
        find_cell(project(tmp_path), "p", "e", "qavg_local_steps=1_kappa=0.2", "s")


def test_seeds_on_the_command_line():
    assert parse_block("0-100") == parse_block("0:100") == range(100)
    for wrong in ["-1-5", "5-5", "9-3", "7", "a-b", ""]:
        with pytest.raises(PfedrlError, match="seeds"):
            parse_block(wrong)
