"""Runs made again: against committed ones, as far as they go, and committed seeds themselves."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.pipeline import reruns as module
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reruns import code_behind, compare_with_record, reruns, verify_committed
from pfedrl.pipeline.store import COMMITTED, MANIFEST
from tests.pipeline.conftest import SEEDS, cell_of, list_again, path_of, publish, rewrite, tenth

OTHER_CODE = "another version of the code"


def test_a_run_made_here_is_compared_with_the_committed_one(local):
    cell = cell_of(local)
    assert compare_with_record(local, cell, SEEDS) is None
    publish(local, cell, range(2))
    assert compare_with_record(local, cell, range(2, 4)) is None
    assert compare_with_record(local, cell, SEEDS).answer == "same bits", "the seeds they share"
    rewrite(path_of(local, "0-2"), value=tenth)
    assert compare_with_record(local, cell, SEEDS).answer == "differs"


def test_a_shorter_run_is_compared_as_far_as_it_goes(local):
    publish(local, cell_of(local))
    scale = local.root / "workflow/scales/s.yaml"
    told = yaml.safe_load(scale.read_text())
    told["papers"]["p"]["default"]["algorithm"] = {"iterations": 32}
    scale.write_text(yaml.safe_dump(told))
    shorter = Project(local.root)
    cell = cell_of(shorter)
    assert cell.key != cell_of(local).key
    run(cell, SEEDS, path_of(shorter, "0-4"))
    answers = {one.name: (one.answer, one.remark) for one in reruns(shorter, "s")}
    assert answers["p/e/qavg"] == ("same bits", module.BEGINNING)
    assert answers["p/e/random_policy"] == ("nothing stored", "")


def test_a_seed_of_a_committed_run_is_made_again(committed, monkeypatch):
    seeds = set()
    for seed in (0, 3):
        monkeypatch.setattr(module.secrets, "choice", lambda of, at=seed: of[at % len(of)])
        (found,) = verify_committed(committed, "p", "e", "qavg")
        assert (found.answer, found.remark) == ("same bits", ""), found
        seeds.add(found.name)
    assert seeds == {"p e qavg, seed 0", "p e qavg, seed 3"}, "of any file"
    for block in ("0-2", "2-4"):
        rewrite(path_of(committed, block, folder=COMMITTED), value=tenth)
        list_again(committed, block)
    (found,) = verify_committed(committed, "p", "e", "qavg", write=True)
    assert found.answer == "differs"
    assert "compared" not in (committed.root / MANIFEST).read_text()


def test_nothing_committed_and_wrong_names_are_clear_errors(committed):
    with pytest.raises(PfedrlError, match="Did you mean 'qavg'"):
        list(verify_committed(committed, "p", "e", "qavgg"))
    (committed.root / MANIFEST).unlink()
    with pytest.raises(PfedrlError, match="no run is committed"):
        list(verify_committed(committed, "p", "e"))


def test_cells_of_other_code_are_confirmed_one_by_one_and_said_to_be_so(committed, monkeypatch):
    place = ("p", "e")
    assert code_behind(committed, "record")[place] == "this version of the code"
    assert not list(verify_committed(committed, "p"))
    monkeypatch.setattr(module, "run_code", lambda cell, pins=None: "newer")
    other = f"{OTHER_CODE} in 3 of 3 cells"
    assert code_behind(committed, "record")[place] == other
    done = []
    answers = verify_committed(committed, "p", write=True, progress=lambda *of: done.append(of))
    first = next(answers)
    assert first.answer == "same bits" and "changed since" in first.remark
    assert "same bits" in code_behind(committed, "record")[place], "what is done is kept"
    assert {found.answer for found in answers} == {"same bits"}
    assert len(done) == 3 and all(now <= total for now, total in done)
    assert not list(verify_committed(committed, "p")), "nothing is left to be confirmed"
    kept = json.loads((committed.root / MANIFEST).read_text())
    compared = [file["compared"] for entry in kept.values() for file in entry["files"].values()
                if "compared" in file]  # fmt: skip
    assert len(compared) == 3 and set(compared[0]) == {"seed", "code", "processor", "commit"}
    monkeypatch.setattr(module, "run_code", lambda cell, pins=None: "newest")
    assert code_behind(committed, "record")[place] == other


def test_one_file_of_other_code_is_found_behind_one_of_the_code_here(committed):
    kept = json.loads((committed.root / MANIFEST).read_text())
    kept[cell_of(committed).folder]["files"]["2-4"]["code"] = "older"
    (committed.root / MANIFEST).write_text(json.dumps(kept))
    (found,) = verify_committed(committed, "p")
    assert found.answer == "same bits" and found.name[-1] in "23"


def test_a_broken_committed_file_is_named(committed):
    path = path_of(committed, "0-2", folder=COMMITTED)
    path.write_bytes(path.read_bytes()[:-100])
    path_of(committed, "2-4", folder=COMMITTED).write_bytes(b"")
    with pytest.raises(PfedrlError, match="git restore") as caught:
        list(verify_committed(committed, "p", "e", "qavg"))
    assert caught.value.exit_code == BROKEN_ARTIFACT


def test_the_command_reruns_a_cell(committed, monkeypatch):
    monkeypatch.chdir(committed.root)
    done = CliRunner().invoke(app, ["verify", "--published", "p", "e", "slow"])
    assert done.exit_code == 0 and done.stdout.endswith("1 same bits\n")
