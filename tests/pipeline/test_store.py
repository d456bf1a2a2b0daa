"""The store: what was tampered with is refused, and what is missing is said."""

import hashlib
import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

from pfedrl.analysis.summaries import read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.parquet import read_table, write_table
from pfedrl.envs.data import checksum, data_sets
from pfedrl.envs.data.checksum import arrays_digest
from pfedrl.pipeline import run_file
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.environments import build
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import served
from pfedrl.pipeline.store import (
    COMMITTED,
    MANIFEST,
    Store,
    _refuse_copies,
    _shares_too_many,
    run_path,
    spans,
)
from tests.pipeline.conftest import (
    SEEDS,
    cell_of,
    list_again,
    path_of,
    publish,
    rewrite,
    tenth,
    write_record,
)
from tests.projects import AVERAGING, ROOT, project
from tests.tiny import Killed


def values(of: Project, *layers: str, name: str = "qavg", seeds: range = SEEDS) -> Any:
    """What a reader gets, by point; a list, so that they can be compared."""
    store, cell = Store(of.root), cell_of(of, name)
    found = store.find(cell, seeds, layers)
    assert not found.missing
    read = store.read(cell, found.parts)[0]
    return {point: line.astype(np.float32).tolist() for point, line in read.items()}


def refused(of: Project, scale: str, *words: str) -> None:
    """Whoever summarises is told what is wrong, with a remedy that harms no good file."""
    with pytest.raises(PfedrlError) as caught:
        summarise(of, "p", "e", scale)
    message = str(caught.value)
    assert caught.value.exit_code == BROKEN_ARTIFACT and "\n" not in message
    for word in words:
        assert word in message
    assert ("git restore" in message) == ("published" in message.split(":")[0])
    assert not (of.root / "results" / scale / "summaries").exists()


def later(seeds: int) -> Callable[[pa.ChunkedArray], pa.ChunkedArray]:
    return lambda column: pc.add(column, seeds)


# what was tampered with


@pytest.mark.parametrize("sealed", [True, False])
def test_committed_values_that_were_changed_are_refused(committed: Project, sealed: bool):
    rewrite(path_of(committed, "2-4", folder=COMMITTED), sealed=sealed, value=tenth)
    refused(committed, "record", "not the file that the manifest lists")


def test_another_cells_rows_are_refused(committed: Project, whole: Path, tmp_path: Path):
    other = path_of(committed, "0-2", "slow", COMMITTED)
    shutil.copy(other, path_of(committed, "0-2", folder=COMMITTED))
    refused(committed, "record", "not the file that the manifest lists")
    list_again(committed, "0-2")
    refused(committed, "record", "it has other settings than e/qavg")


def test_a_file_without_a_seal_is_refused(local: Project):
    rewrite(path_of(local, "0-2"), sealed=False)
    refused(local, "s", "does not match its checksum")


@pytest.mark.parametrize(
    ("forged", "word"),
    [
        ({"settings": {"algorithm": {"name": "other"}}}, "other settings"),
        ({"code": "other"}, "other code"),
        ({"data": "other"}, "other data"),
        ({"seeds": [2, 4]}, "other seeds"),
        ({"seed": later(2)}, "seeds outside 0-2"),
        ({"seed": lambda column: pc.multiply(column, 0)}, "missing or there twice"),
    ],
)
def test_a_forged_run_is_refused(local: Project, forged: dict[str, Any], word: str):
    rewrite(path_of(local, "0-2"), value=lambda column: pa.chunked_array([[42.0] * len(column)]),
            **forged)  # fmt: skip
    refused(local, "s", word)


def test_copied_seeds_are_refused(local: Project):
    rewrite(path_of(local, "0-2"), path_of(local, "2-4"), seed=later(2), seeds=[2, 4])
    refused(local, "s", "repeats seeds of 0-2.parquet under other numbers")


def test_copied_seeds_are_refused_within_one_file(local: Project):
    first, second = (path_of(local, block) for block in ("0-2", "2-4"))
    rewrite(first, second, seed=later(2), seeds=[2, 4])
    tables = [read_table(path)[0] for path in (first, second)]
    write_table(path_of(local, "0-4"), pa.concat_tables(tables),
                read_table(first)[1] | {"seeds": [0, 4]})  # fmt: skip
    refused(local, "s", "repeats seeds")


def test_copied_seeds_are_refused_across_layers_and_by_publish(committed: Project, whole: Path):
    """Though a committed value is a rounded one."""
    manifest = (committed.root / MANIFEST).read_bytes()
    forged = path_of(committed, "4-6")
    forged.parent.mkdir(parents=True)
    rewrite(path_of(Project(whole), "0-2"), forged, seed=later(4), seeds=[4, 6])
    with pytest.raises(PfedrlError, match="repeats seeds"):
        publish(committed, cell_of(committed), range(6))
    assert (committed.root / MANIFEST).read_bytes() == manifest
    write_record(committed.root, seeds=6)
    refused(Project(committed.root), "record", "runs", "repeats seeds of 0-2.parquet")


def test_a_copy_that_the_manifest_lists_is_refused(committed: Project):
    source, copy = (path_of(committed, block, folder=COMMITTED) for block in ("0-2", "2-4"))
    rewrite(source, copy, seed=later(2), seeds=[2, 4])
    list_again(committed, "2-4")
    refused(committed, "record", "repeats seeds")


@pytest.mark.parametrize("values, copies", [(10**6, True), (300, True), (3, False), (1, False)])
def test_records_of_few_values_may_coincide_as_often_as_by_chance(values: int, copies: bool):
    first, second = np.random.default_rng(0).integers(values, size=(2, 100)).tolist()
    records = [Counter(str(value).encode() for value in drawn) for drawn in (first, second)]
    assert not _shares_too_many(*records)
    assert _shares_too_many(records[0], records[0]) == copies


def test_a_run_that_draws_nothing_is_equal_in_all_seeds():
    line = np.random.default_rng(0).random(20)
    block = {("m", "a", 0, at): np.full(3, value) for at, value in enumerate(line)}
    _refuse_copies([block, block], [Path("0-3"), Path("3-6")])


def test_large_seeds_do_not_wrap(local: Project):
    seeds = range(2**31, 2**31 + 2)
    cell = cell_of(local)
    run(cell, seeds, path_of(local, f"{seeds.start}-{seeds.stop}"))
    assert publish(local, cell, seeds)
    assert values(local, "committed", seeds=seeds) == values(local, "local", seeds=seeds)
    with pytest.raises(AssertionError):
        values(local, "committed", seeds=range(2))


# data


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], str]:
    """Put made-up arrays in the place of HAPT; their digest."""
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path / "data"))

    def put(value: int) -> str:
        inputs, labels = np.full((12, 6, 150), value, np.float32), np.arange(12, dtype=np.uint8) % 6
        arrays = data_sets.Arrays(inputs, labels, inputs[:6], labels[:6])
        data_sets.write("hapt", arrays)
        return data_sets.digest(arrays)

    return put


def of_data(root: Path, digest: str | None = None) -> Cell:
    """A cell that learns from HAPT, with or without a prescribed digest."""
    if not (root / "envs").exists():
        family = {"name": "labelled_data", "data": "hapt", "agents": 2, "newcomers": 0}
        variants = {"majority_class": {}}
        project(root, edits={"experiments/e": {"title": "t", "family": family,
                                               "variants": variants}})  # fmt: skip
    if digest is not None:
        (root / "workflow" / "data.yaml").write_text(yaml.safe_dump({"hapt": {"sha256": digest}}))
    return next(cells(Project(root), "p", "e", "s"))


def test_data_that_were_replaced_are_refused_before_anything_runs(tmp_path: Path, data):
    cell = of_data(tmp_path, data(1))
    run(cell, range(1), tmp_path / "run.parquet")
    assert read_table(tmp_path / "run.parquet")[1]["data"] == cell.data
    data(2)
    for job in (run, build):
        with pytest.raises(PfedrlError, match="the data were changed") as caught:
            job(cell, range(1), tmp_path / "other")
        assert caught.value.exit_code == BROKEN_ARTIFACT
    assert not (tmp_path / "other").exists()


def test_the_key_has_the_digest_of_the_data(tmp_path: Path, data):
    first, second = data(1), data(2)
    here = of_data(tmp_path)
    prescribed = [of_data(tmp_path, digest) for digest in (first, second)]
    assert [cell.data for cell in prescribed] == [first, second]
    assert prescribed[0].key != prescribed[1].key == here.key


def test_a_digest_is_kept_as_long_as_the_file_is(data, monkeypatch):
    first = data(1)
    path = data_sets.path_of("hapt")
    before = path.stat()
    assert arrays_digest("hapt") == first
    with monkeypatch.context() as without:
        without.setattr(checksum, "digest", lambda arrays: pytest.fail("computed again"))
        assert arrays_digest("hapt") == first
    second = data(2)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert arrays_digest("hapt") == second


def test_a_data_folder_need_not_be_writable(data, monkeypatch):
    digest = data(1)

    def read_only(path: Path) -> None:
        raise OSError("read-only")

    monkeypatch.setattr(checksum, "atomic_write", read_only)
    assert arrays_digest("hapt") == digest


# what is there, and what is not


def test_a_file_that_the_manifest_does_not_list_is_not_there(committed: Project):
    store, cell = Store(committed.root), cell_of(committed)
    with store.changed_manifest() as manifest:
        del manifest[cell.folder]["files"]["2-4"]
    assert store.find(cell, SEEDS, ["committed"]).missing == [2, 3]
    (committed.root / MANIFEST).unlink()
    assert Store(committed.root).find(cell, SEEDS, ["committed"]).missing == [0, 1, 2, 3]


def test_a_listed_file_that_is_gone_is_named(committed: Project):
    path_of(committed, "0-2", folder=COMMITTED).unlink()
    with pytest.raises(PfedrlError, match=r"0-2\.parquet: no such file\. Restore it: git restore"):
        summarise(committed, "p", "e", "record")


def test_of_files_that_overlap_each_seed_is_taken_once(local: Project):
    expected = values(local, "local")
    cell = cell_of(local)
    run(cell, range(1, 3), path_of(local, "1-3"))
    assert values(local, "local") == expected
    store = Store(local.root)
    takes = [part.take for part in store.find(cell, range(6), ["local"]).parts]
    assert takes == [range(2), range(2, 3), range(3, 4)]
    assert store.find(cell, range(6), ["local"]).missing == [4, 5]
    publish(local, cell)
    assert values(local, "committed") == values(local, "committed", "local") == expected
    summarise(local, "p", "e", "s")
    summary = read_summary(local.root / "results/s/summaries", "p", "e")
    assert summary.facts["cells"]["qavg"]["seeds"] == [0, 4]
    assert len(summary.final("qavg", "objective")) == 4


def test_a_missing_seed_takes_nothing_from_the_other_cells(local: Project):
    path_of(local, "2-4").unlink()
    found = {one.cell.name: one.why_not for one in served(local, "p", "e", "s")}
    assert found == {"qavg": "not run (2 of 4 seeds)", "slow": None, "random_policy": None}
    summarise(local, "p", "e", "s")
    summary = read_summary(local.root / "results/s/summaries", "p", "e")
    assert set(summary.facts["cells"]) == {"slow", "random_policy"}
    assert summary.facts["not_run"] == {"qavg": "not run (2 of 4 seeds)"}
    paths = [run_path(cell_of(local, name), block) for name in ("slow", "random_policy")
             for block in ("0-2", "2-4")]  # fmt: skip
    assert summary.facts["runs"] == sorted(path.as_posix() for path in paths)


def test_a_new_variant_takes_nothing_away_from_the_record(committed: Project):
    summarise(committed, "p", "e", "record")
    before = read_summary(committed.root / "results/record/summaries", "p", "e")
    path = committed.root / "workflow/papers/p/experiments.yaml"
    page = yaml.safe_load(path.read_text())
    page["e"]["variants"]["new"] = {**AVERAGING, "algorithm": "soft_pavg"}
    path.write_text(yaml.safe_dump(page))
    summarise(Project(committed.root), "p", "e", "record")
    after = read_summary(committed.root / "results/record/summaries", "p", "e")
    assert after.finals.equals(before.finals) and after.statistics.equals(before.statistics)
    assert after.facts["not_run"] == {"new": "not run (0 of 4 seeds)"}


def test_a_local_run_of_other_code_is_not_run_to_the_record(local: Project):
    rewrite(path_of(local, "2-4"), code="other")
    found = {one.cell.name: one.why_not for one in served(local, "p", "e", "record")}
    assert found == {"qavg": "not run (2 of 4 seeds)", "slow": None, "random_policy": None}
    summarise(local, "p", "e", "record")
    refused(local, "s", "other code")


def test_a_changed_budget_is_another_key_and_readers_do_not_fail(committed: Project):
    write_record(committed.root, algorithm={"iterations": 8})
    changed = Project(committed.root)
    assert cell_of(changed, scale="record").key != cell_of(committed).key
    assert not Store(changed.root).find(cell_of(changed), SEEDS, ["committed"]).missing
    summarise(changed, "p", "e", "record")
    summary = read_summary(changed.root / "results/record/summaries", "p", "e")
    assert list(summary.facts["cells"]) == ["random_policy"]
    write_record(committed.root, seeds=6)
    with pytest.raises(PfedrlError, match=r"no runs to summarise \(not run \(4 of 6 seeds\)\)"):
        summarise(Project(committed.root), "p", "e", "record")


def test_a_reading_whose_variant_changes_nothing_has_the_same_runs(local: Project):
    own, read = (
        {cell.name: cell.key for cell in cells(local, "p", experiment, "s")}
        for experiment in ("e", "e_r")
    )
    assert own["slow"] == read["slow"] and own["qavg"] != read["qavg"]
    found = {one.cell.name: one.why_not for one in served(local, "p", "e_r", "s")}
    assert found == {"qavg": "not run (0 of 4 seeds)", "slow": None}


def test_blocks_that_are_there_stay_and_missing_seeds_are_cut(local: Project):
    store, folder = Store(local.root), cell_of(local).folder
    path_of(local, "2-4").rename(path_of(local, "12-14"))
    blocks = store.plan(folder, range(9), 3)
    assert blocks == [range(2), range(2, 5), range(5, 8), range(8, 9)]
    assert store.plan(folder, range(2), 3) == [range(2)]
    assert list(spans([7, 1, 2, 3, 5])) == [range(1, 4), range(5, 6), range(7, 8)]


# publishing


def test_runs_are_published_once_and_keep_their_numbers_and_facts(local: Project):
    cell = cell_of(local)
    added = publish(local, cell)
    assert [path.name for path in added] == ["0-2.parquet", "2-4.parquet"]
    manifest = (local.root / MANIFEST).read_bytes()
    assert publish(local, cell) == [] and (local.root / MANIFEST).read_bytes() == manifest
    entry = json.loads(manifest)[cell.folder]
    assert (entry["settings"], entry["data"]) == (cell.settings(), None)
    for path in added:
        content = (local.root / path).read_bytes()
        assert entry["files"][path.stem]["sha256"] == hashlib.sha256(content).hexdigest()
        assert read_table(local.root / path)[1] == read_table(path_of(local, path.stem))[1]
    assert values(local, "committed") == values(local, "local")


def test_two_writers_of_the_manifest_keep_each_others_entries(local: Project):
    first, second = Store(local.root), Store(local.root)
    assert first.manifest == second.manifest == {}
    for store, name in ((first, "qavg"), (second, "slow"), (first, "random_policy")):
        cell = cell_of(local, name)
        store.add(cell, store.find(cell, range(2), ["local"]).parts[0])
    assert len(Store(local.root).manifest) == 3


@pytest.mark.parametrize("where", ["write_small", "list_file"])
def test_a_publish_that_is_killed_leaves_nothing_that_is_read(
    local: Project, monkeypatch: pytest.MonkeyPatch, where: str
):
    cell, store = cell_of(local), Store(local.root)

    def killed(path: Path, *_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if where == "list_file":
            patch.setattr(Store, "list_file", killed)
        else:
            patch.setattr(run_file, "write_table", killed)
        with pytest.raises(Killed):
            publish(local, cell)
    left = path_of(local, "0-2", folder=COMMITTED).with_name(".0-2.0123456789ab.parquet")
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half")
    assert store.find(cell, SEEDS, ["committed"]).missing == [0, 1, 2, 3]
    assert len(publish(local, cell)) == 2
    assert values(local, "committed") == values(local, "local")


def test_left_overs_and_other_files_in_a_runs_folder_are_no_runs(local: Project):
    expected = values(local, "local")
    for name in (".0-9.0123456789ab.parquet", "0-9.copy.parquet", "0-x.parquet", "0-9.checkpoint"):
        path_of(local, "0-2").with_name(name).write_bytes(b"")
    assert values(local, "local") == expected


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_git_ignores_left_overs():
    places = [COMMITTED / "a" / ".0-2.0123456789ab.parquet", COMMITTED / ".manifest.0123.json"]
    done = subprocess.run(["git", "check-ignore", *places], cwd=ROOT, capture_output=True)
    assert len(done.stdout.splitlines()) == len(places)
    shown = subprocess.run(["git", "check-ignore", "-q", COMMITTED / "a" / "0-2.parquet"], cwd=ROOT)
    assert shown.returncode == 1
