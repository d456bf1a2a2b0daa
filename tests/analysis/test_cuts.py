"""What a scale cuts is computed, defaults included."""

from pathlib import Path

import pytest
import yaml

from pfedrl.analysis.cuts import cuts, cuts_of
from pfedrl.pipeline.project import Project
from tests.projects import AVERAGING, BUDGET, ROOT, project


def test_defaults_that_a_scale_lowers_are_said():
    """The paper's ten passes of the policy are a default, and so are thirty of the critic."""
    found = cuts(Project(ROOT), "fedkl", "figure_eight", "record")
    assert {"3 of 10 policy epochs", "1 of 30 critic epochs"} <= set(found)
    assert "20 of 180 communication rounds" in found
    assert "target 250 instead of 350" in found


def test_at_the_papers_scale_nothing_of_fedkl_is_cut():
    page = Project(ROOT).paper("fedkl")
    assert not any(cuts(Project(ROOT), "fedkl", name, "paper") for name in page.experiments)


def test_only_the_cells_that_matter_count(tmp_path: Path):
    variants = {"qavg": AVERAGING, "long": {**AVERAGING, "algorithm": "qavg", "iterations": 1024},
                "random_policy": {}}  # fmt: skip
    budget = BUDGET | {"algorithm": {"iterations": 16}, "family": {"held_out": 2}}
    budgets = {"experiments/e/variants": variants, "scale/papers/p": {"e": budget}}
    made = project(tmp_path, edits=budgets)
    assert cuts(made, "p", "e", "s") == ["16 of 64 to 1,024 iterations", "held out 2 instead of 0"]
    assert cuts(made, "p", "e", "s", ["long"])[0] == "16 of 1,024 iterations"
    assert cuts(made, "p", "e", "s", ["qavg_kappa=0"])[0] == "16 of 64 iterations"
    assert cuts(made, "p", "e", "s", ["random_policy"]) == ["held out 2 instead of 0"]
    assert cuts(made, "p", "theory", "s") == []


def test_a_budget_may_be_of_a_single_variant(tmp_path: Path):
    variants = {"qavg": AVERAGING, "rare": {**AVERAGING, "algorithm": "qavg", "local_steps": 8}}
    budget = BUDGET | {"algorithm": {"iterations": 16}, "variants": {"rare": {"local_steps": 2}}}
    budgets = {"experiments/e/variants": variants, "scale/papers/p": {"e": budget}}
    made = project(tmp_path, edits=budgets)
    assert cuts(made, "p", "e", "s", ["qavg"]) == ["16 of 64 iterations"]
    assert cuts(made, "p", "e", "s", ["rare"]) == [
        "16 of 64 iterations",
        "local steps 2 instead of 8",
    ]


def test_experiments_that_differ_are_told_apart():
    found = cuts_of(Project(ROOT), "pfedrl_rep", ["control_cartpole", "control_acrobot"], "laptop")
    assert "CartPoles, ten agents: 120 of 500 episodes" in found
    assert "; Acrobots, ten agents: 20 of 100 episodes" in found
    assert cuts_of(Project(ROOT), "qavg", ["table1_random_mdps"], "laptop") == ""


@pytest.mark.parametrize("paper", Project(ROOT).papers)
def test_no_caption_types_a_budget(paper: str):
    """Scales' names in a caption are a sign of it: what depends on a scale is computed."""
    scales = [path.stem for path in (ROOT / "workflow" / "scales").glob("*.yaml")]
    artifacts = yaml.safe_load((ROOT / f"workflow/papers/{paper}/artifacts.yaml").read_text())
    for name, artifact in artifacts.items():
        assert not [s for s in scales if f"{s} scale" in artifact["caption"]], name
