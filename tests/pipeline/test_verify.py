"""Short runs against what is stored: the answers, and what is said beside them."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core.errors import PfedrlError
from pfedrl.core.processor import NUMBA, PINS, SWITCH
from pfedrl.pipeline import verify as module
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import compare, digest, verify, why_other_bits, write
from tests.tiny import ROOT, every_short_run

CHEAP = (
    "qavg-random_mdp-plateau", "pfedtd_rep-cliff_walking", "dqn_avg-cartpole-step",
    "fed_kl-reacher",
    "fedkl_theorem1",
)  # fmt: skip
ALL_PINS = PINS | NUMBA
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
    assert set(module.stored(Project(ROOT))) == set(every_short_run())


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
