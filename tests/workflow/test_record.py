"""The record: committed runs, drawn by Snakemake; what is fresh does not depend on a checkout."""

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.processes import once
from tests.workflow.conftest import AVERAGING, PAPER, Tiny, copy_of, scale

RECORD = ("--config", "scale=record")


@pytest.fixture(scope="session")
def recorded(finished: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The project with its runs committed and the record drawn; not to be changed."""

    def make(folder: Path) -> None:
        tiny = copy_of(finished, folder)
        made = scale(scale="record", reads=["committed", "local"], makes=False)
        tiny.write("workflow/scales/record.yaml", made)
        assert len(tiny.pfedrl("publish").splitlines()) == 10
        tiny.make(*RECORD)

    return Tiny(once(tmp_path_factory, "recorded", make) / "project")


@pytest.fixture
def clone(recorded: Tiny, tmp_path: Path) -> Tiny:
    """What a checkout has of it, its files written in any order."""
    tiny = copy_of(recorded, tmp_path)
    shutil.rmtree(tiny.root / ".snakemake")
    for folder in (tiny.root / "results").iterdir():
        if folder.name != "published":
            shutil.rmtree(folder)
    files = [path for path in tiny.root.rglob("*") if path.is_file()]
    random.Random(0).shuffle(files)
    for place, path in enumerate(files):
        os.utime(path, (1.7e9 + place, 1.7e9 + place))
    return tiny


def test_a_clone_has_nothing_to_do_whatever_the_times_of_its_files(clone: Tiny):
    assert "Nothing to be done" in clone.make(*RECORD)
    assert clone.planned("tiny_table1", *RECORD) == set()


def test_drawn_again_it_is_the_same_and_runs_nothing(clone: Tiny):
    before = clone.files("paper_figures")
    assert set(before) >= {"paper_figures/index.html", "paper_figures/tiny/claims.json"}
    assert "Writing the pages" in clone.make(*RECORD, "--forcerun", "summarise")
    assert clone.files("paper_figures") == before
    assert not (clone.root / "results" / "runs").exists()


def test_other_code_or_options_of_a_drawing_draw_it_again_in_a_clone(clone: Tiny):
    clone.append("pfedrl/analysis/figures/tiny_figure.py")
    figure = {"Summarising tiny/windy", "Drawing tiny/figure1"}
    assert clone.planned("tiny_figure1", *RECORD) == figure
    assert clone.planned("tiny_table1", *RECORD) == set()
    assert clone.planned(*RECORD) >= {*figure, "Writing the pages"}
    clone.write("workflow/style.yaml", "algorithms: {qavg: {colour: '#123456'}}")
    assert "Drawing tiny/comparison_random" in clone.planned("tiny_comparison_random", *RECORD)


@pytest.mark.parametrize(
    ("file", "target", "message"),
    [
        ("claims", "paper_figures/tiny/claims.json", "Testing the claims of tiny"),
        ("fidelity", "paper_figures/index.html", "Writing the pages"),
    ],
)
def test_edited_claims_and_notes_are_seen_in_a_clone(
    clone: Tiny, file: str, target: str, message: str
):
    same = dict.fromkeys(("paper", "code", "ours", "switch"), "x") | {"id": "one"}
    test = {"kind": "ahead", "experiment": "windy", "metrics": ["objective"],
            "ahead": {"qavg": ["qavg"]}}  # fmt: skip
    claim = {"id": "one", "words": "w", "where": "s", "test": test}
    clone.write(f"workflow/papers/tiny/{file}.yaml", [claim if file == "claims" else same])
    assert message in clone.planned(target, *RECORD)


def test_a_new_variant_takes_nothing_away_and_is_shown_once_it_is_run(clone: Tiny):
    table = clone.root / "paper_figures/tiny/table1.csv"
    before = set(table.read_text().splitlines())
    spec = PAPER["experiments"]["random"]
    variants = {**spec["variants"], "soft_pavg": AVERAGING}
    experiments = {**PAPER["experiments"], "random": {**spec, "variants": variants}}
    clone.write("workflow/papers/tiny/experiments.yaml", experiments)
    assert clone.planned("tiny_table1", "tiny_figure1", *RECORD) == set()
    for kappa, blocks in (("0", ["0-8"]), ("0.5", ["0-3", "3-8"])):
        for block in blocks:
            clone.pfedrl("run", "tiny", "random", f"soft_pavg_kappa={kappa}", "--seeds", block)
    drawn = {"Summarising tiny/random", "Drawing tiny/table1"}
    assert clone.planned("tiny_table1", "tiny_figure1", *RECORD) == drawn
    clone.make("tiny_table1", *RECORD)
    new = set(table.read_text().splitlines()) - before
    assert new and all(line.startswith("soft_pavg_kappa") for line in new)
