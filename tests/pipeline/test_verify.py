"""Runs against what is stored: the answers, and what is said beside them."""

import json
import shutil

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.processor import NUMBA, PINS, SWITCH
from pfedrl.pipeline import reruns as again
from pfedrl.pipeline import verify as module
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.records import read_records
from pfedrl.pipeline.reruns import (
    BEGINNING,
    code_behind,
    compare_with_record,
    reruns,
    verify_committed,
)
from pfedrl.pipeline.store import COMMITTED, MANIFEST
from pfedrl.pipeline.verify import compare, digest, verify, why_other_bits, write
from tests.pipeline.conftest import SEEDS, cell_of, list_again, path_of, publish, rewrite, tenth
from tests.tiny import ROOT, every_short_run

CHEAP = (
    "qavg-random_mdp-plateau", "pfedtd_rep-cliff_walking", "dqn_avg-cartpole-step",
    "fed_kl-reacher",
    "fedkl_theorem1",
)  # fmt: skip
ALL_PINS = PINS | NUMBA
OTHER_CODE = "another version of the code"
HASWELL = ("avx2", "fma")


def columns(**changes):
    return {
        "seed": np.array([0, 0, 0, 0]),
        "agent": np.array([0, 1, 0, -1]),
        "axis": np.array(["round"] * 4, dtype=object),
        "at": np.array([1, 1, 2, 2]),
        "metric": np.array(["return", "return", "return", "loss"], dtype=object),
        "value": np.array([1.0, -1.0, np.nan, 3.0]),
    } | changes


def answer(**changes):
    return compare("a run", digest(columns()), digest(columns(**changes))).answer


@pytest.mark.parametrize("name", CHEAP)
def test_short_runs_give_the_stored_numbers_on_any_processor(name):
    (found,) = verify(Project.here(ROOT), [name])
    assert found.answer in ("same bits", "same to rounding"), found


def test_every_short_run_is_stored_and_nothing_else():
    """A new algorithm, or another budget: pfedrl verify --write."""
    assert set(read_records(ROOT, module.FILE)) == set(every_short_run())


def test_the_three_answers():
    assert answer() == "same bits"
    nearly = np.array([1.0 + 1e-6, -1.0, np.nan, 3.0])
    assert answer(value=nearly) == "same to rounding"
    assert answer(value=np.array([1.0, -1.0, np.nan, 3.001])) == "differs"
    assert answer(value=np.array([1.0, -1.0, 0.0, 3.0])) == "differs", "a number where was none"
    assert answer(value=np.array([1.0, -1.0, np.inf, 3.0])) == "differs"
    assert answer(value=np.array([-1.0, 1.0, np.nan, 3.0])) == "same to rounding"
    assert answer(at=np.array([1, 1, 2, 3])) == "differs"
    fewer = {name: column[:3] for name, column in columns().items()}
    assert answer(**fewer) == "differs"


def test_a_metric_that_vanishes_but_for_rounding():
    zero = np.array([1e-17, -1e-17, np.nan, 3.0])
    stored = digest(columns(value=zero))
    found = digest(columns(value=np.array([4e-16, 0.0, np.nan, 3.0])))
    assert compare("a run", stored, found).answer == "same to rounding"


def test_a_cell_whose_code_changed_is_said_to_be_so_and_compared_all_the_same(tmp_path):
    project = a_copy(tmp_path)
    assert list(write(project, ["fedkl_theorem1"])) == ["fedkl_theorem1"]
    (found,) = verify(project, ["fedkl_theorem1"])
    assert (found.answer, found.remark) == ("same bits", "")
    path = tmp_path / module.FILE
    stored = json.loads(path.read_text())
    stored["fedkl_theorem1"]["code"] = "another"
    path.write_text(json.dumps(stored))
    (found,) = verify(project, ["fedkl_theorem1"])
    assert (found.answer, found.remark) == ("same bits", "code or libraries changed since")
    for means in stored["fedkl_theorem1"]["metrics"].values():
        means[0] += 1
    stored["fedkl_theorem1"]["bits"] = "others"
    path.write_text(json.dumps(stored))
    (found,) = verify(project, ["fedkl_theorem1"])
    assert found.answer == "differs" and "changed since" in found.remark


def test_what_is_not_stored_is_said_and_a_wrong_name_has_a_nearest_one(tmp_path):
    project = a_copy(tmp_path)
    (tmp_path / module.FILE).unlink()
    (found,) = verify(project, ["fedkl_theorem1"])
    assert found.answer == "nothing stored"
    with pytest.raises(PfedrlError, match="Did you mean 'fedkl_theorem1'"):
        list(verify(project, ["fedkl_theorem11"]))


def test_why_bits_may_differ():
    assert why_other_bits(ALL_PINS, HASWELL) is None
    assert "lacks AVX2" in why_other_bits({}, ("sse4_2",))
    assert "native" in why_other_bits({SWITCH: "native"}, HASWELL)
    other = ALL_PINS | {"MKL_CBWR": "COMPATIBLE"}
    assert why_other_bits(other, HASWELL) == "MKL_CBWR is COMPATIBLE, not AVX2"


def test_the_reason_is_given_where_bits_differ():
    assert module.summary(["same bits"] * 3, "a reason") == "3 same bits"
    found = module.summary(["same bits", "same to rounding"], "a reason")
    assert found == "1 same bits, 1 same to rounding (a reason)"


def test_the_command_fails_where_something_differs_and_only_there(tmp_path, monkeypatch):
    a_copy(tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / module.FILE
    done = CliRunner().invoke(app, ["verify", "fedkl_theorem1"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("1 same ")
    stored = json.loads(path.read_text())
    stored["fedkl_theorem1"] |= {"rows": "others", "bits": "others"}
    path.write_text(json.dumps(stored))
    done = CliRunner().invoke(app, ["verify", "fedkl_theorem1"])
    assert done.exit_code == 1
    assert done.stdout.startswith("differs          fedkl_theorem1 (in what it records")
    assert CliRunner().invoke(app, ["verify", "--write", "fedkl_theorem1"]).exit_code == 0
    assert CliRunner().invoke(app, ["verify", "fedkl_theorem1"]).exit_code == 0


def a_copy(folder):
    for name in ("workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name)
    return Project.here(folder)


def test_a_broken_record_is_named_with_what_to_do(tmp_path):
    (tmp_path / module.FILE).parent.mkdir(parents=True)
    (tmp_path / module.FILE).write_text("{")
    with pytest.raises(PfedrlError, match=f"{module.FILE}: cannot be read .*: git restore"):
        next(verify(Project(tmp_path)))


# runs made here, against committed ones


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
    assert answers["p/e/qavg"] == ("same bits", BEGINNING)
    assert answers["p/e/random_policy"] == ("nothing stored", "")


# committed runs, made again


def test_a_seed_of_a_committed_run_is_made_again(committed, monkeypatch):
    seeds = set()
    for seed in (0, 3):
        monkeypatch.setattr(again.secrets, "choice", lambda of, at=seed: of[at % len(of)])
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
    monkeypatch.setattr(again, "run_code", lambda cell, pins=None: "newer")
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
    monkeypatch.setattr(again, "run_code", lambda cell, pins=None: "newest")
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


def test_the_command_asks_which_paper(committed, monkeypatch):
    monkeypatch.chdir(committed.root)
    done = CliRunner().invoke(app, ["verify", "--published", "--write"])
    assert "which runs?" in str(done.exception)
    done = CliRunner().invoke(app, ["verify", "--published", "p", "e", "slow"])
    assert done.exit_code == 0 and done.stdout.endswith("1 same bits\n")
