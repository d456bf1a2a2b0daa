"""Short runs against what is stored: the three answers, and what is said beside them."""

import json
import re
import shutil
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pfedrl.pipeline.confirmed import code_on_page
from pfedrl.pipeline.published import publish, published_runs
from pfedrl.pipeline.verify_published import listed, verify_published
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.processor import NUMBA, PINS, SWITCH
from pfedrl.pipeline import confirmed, rates
from pfedrl.pipeline import verify as module
from pfedrl.pipeline.cells import cells, run_path
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.records import read_records
from pfedrl.pipeline.verify import compare, digest, verify, why_other_bits, write
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


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A project with one published experiment, whose laptop scale is the tiny one."""
    project = a_copy(tmp_path)
    scales = tmp_path / "workflow" / "scales"
    tiny = (scales / "tiny.yaml").read_text().replace("scale: tiny", "scale: laptop")
    (scales / "laptop.yaml").write_text(tiny)
    monkeypatch.chdir(tmp_path)
    for cell in cells(project, "pfedrl_rep", "figure2", "laptop"):
        run(cell, range(2, 4), tmp_path / run_path("laptop", cell, "2-4"))
    list(publish(project, "laptop", ["pfedrl_rep"]))
    return project


def test_published_runs_are_listed_with_their_code(published, monkeypatch):
    line = "pfedrl_rep figure2 at the laptop scale: "
    assert list(listed(published)) == [line + "this version of the code"]
    monkeypatch.setattr("pfedrl.pipeline.confirmed.run_code", lambda cell: "another")
    count = len(list(cells(published, "pfedrl_rep", "figure2", "laptop")))
    assert list(listed(published)) == [line + f"{OTHER_CODE} in {count} of {count} cells"]


def test_a_seed_of_a_published_run_is_made_again(published):
    (found,) = verify_published(published, "pfedrl_rep", "figure2")
    assert (found.answer, found.remark) == ("same bits", "")
    assert "seed 2 at the laptop scale" in found.name
    cell = next(iter(cells(published, "pfedrl_rep", "figure2", "laptop")))
    (found,) = verify_published(published, "pfedrl_rep", "figure2", cell.name)
    assert found.answer == "same bits" and cell.name in found.name
    (path,) = published_runs(published.root, "laptop", cell)
    table = pq.read_table(path)
    values = pc.multiply(table["value"], pa.scalar(1.01, pa.float32()))
    pq.write_table(table.set_column(table.column_names.index("value"), "value", values), path)
    (found,) = verify_published(published, "pfedrl_rep", "figure2", cell.name)
    assert found.answer == "differs"


def test_nothing_published_is_said(tmp_path):
    project = a_copy(tmp_path)
    assert ["nothing is published" in line for line in listed(project)] == [True]
    with pytest.raises(PfedrlError, match="nothing is published"):
        list(verify_published(project, "pfedrl_rep", "figure2"))


def by_other_code(project, monkeypatch):
    """The published runs are of other code than the code here."""
    monkeypatch.setattr("pfedrl.pipeline.confirmed.run_code", lambda cell: "the code here")
    return list(cells(project, "pfedrl_rep", "figure2", "laptop"))


def test_a_paper_is_confirmed_cell_by_cell_and_said_to_be_so(published, monkeypatch):
    count = len(by_other_code(published, monkeypatch))
    other = f"{OTHER_CODE} in {count} of {count} cells"
    assert not (published.root / confirmed.FILE).exists()
    done = []
    answers = verify_published(
        published, "pfedrl_rep", write=True, progress=lambda *of: done.append(of)
    )
    next(answers)
    assert next(listed(published)).endswith(
        f"{other}; seed 2 rerun with this version (1 of these cells): same bits"
    ), "what is done is kept"
    assert {found.answer for found in answers} == {"same bits"}
    said = f"{other}; seed 2 rerun with this version: same bits"
    assert next(listed(published)).endswith(said)
    assert code_on_page(published) == {("pfedrl_rep", "figure2"): said}
    assert len(done) == count and all(now <= total for now, total in done)
    assert not list(verify_published(published, "pfedrl_rep")), "nothing is left to be confirmed"
    kept = json.loads((published.root / confirmed.FILE).read_text())
    assert len(kept) == count
    assert set(next(iter(kept.values()))) == {"seed", "file", "code", "processor", "commit"}


def test_two_processes_record_without_losing_what_the_other_wrote(published, monkeypatch):
    first, second, *_ = by_other_code(published, monkeypatch)
    write_records, inside = confirmed.write_records, []

    def write_slowly(*given):
        if not inside:
            inside.append(threading.Thread(target=record, args=[second]))
            inside[0].start()
            time.sleep(0.5)  # the other would read by now what this one is about to replace
        write_records(*given)

    def record(cell):
        (path,) = published_runs(published.root, "laptop", cell)
        confirmed.record(published, confirmed.Made("laptop", cell, path), 2)

    monkeypatch.setattr(confirmed, "write_records", write_slowly)
    record(first)
    inside[0].join()
    assert len(read_records(published.root, confirmed.FILE)) == 2


def test_a_broken_published_file_is_named(published):
    cell = next(iter(cells(published, "pfedrl_rep", "figure2", "laptop")))
    (path,) = published_runs(published.root, "laptop", cell)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(PfedrlError, match=re.escape(path.name)) as caught:
        list(listed(published))
    assert caught.value.exit_code == BROKEN_ARTIFACT


@pytest.mark.parametrize(
    ("file", "read"),
    [
        (module.FILE, lambda root: next(verify(Project(root)))),
        (rates.FILE, lambda root: rates._stored(root)),
    ],
)
def test_a_broken_record_is_named_with_what_to_do(tmp_path, file, read):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("{")
    with pytest.raises(PfedrlError, match=f"{file}: cannot be read .*: git restore {file}"):
        read(tmp_path)


def test_a_confirmation_by_other_code_or_of_another_file_counts_as_nothing(published, monkeypatch):
    first, *_ = by_other_code(published, monkeypatch)
    (found,) = verify_published(published, "pfedrl_rep", "figure2", first.name, write=True)
    assert found.answer == "same bits" and "changed since" in found.remark
    assert "same bits" in next(listed(published))
    (path,) = published_runs(published.root, "laptop", first)
    whole = path.read_bytes()
    pq.write_table(pq.read_table(path), path)  # the same values, but nobody compared these
    assert "same bits" not in next(listed(published))
    path.write_bytes(whole)
    assert "same bits" in next(listed(published))
    monkeypatch.setattr("pfedrl.pipeline.confirmed.run_code", lambda cell: "newer code")
    assert "same bits" not in next(listed(published))


def test_nothing_is_recorded_unasked_nor_of_what_differs(published, monkeypatch):
    first, *_ = by_other_code(published, monkeypatch)
    list(verify_published(published, "pfedrl_rep", "figure2", first.name))
    (path,) = published_runs(published.root, "laptop", first)
    table = pq.read_table(path)
    values = pc.multiply(table["value"], pa.scalar(1.01, pa.float32()))
    pq.write_table(table.set_column(table.column_names.index("value"), "value", values), path)
    (found,) = verify_published(published, "pfedrl_rep", "figure2", first.name, write=True)
    assert found.answer == "differs"
    assert not (published.root / confirmed.FILE).exists()


def test_the_command_asks_which_paper(published):
    done = CliRunner().invoke(app, ["verify", "--published", "--write"])
    assert "which runs?" in str(done.exception)
    done = CliRunner().invoke(app, ["verify", "--published", "pfedrl_rep"])
    assert done.stdout == "every published cell is of the code here, or confirmed by it.\n"
