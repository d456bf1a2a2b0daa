"""A run file: written, read back, and named when it is broken."""

from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.core.parquet import read_facts, read_table
from pfedrl.core.recorder import ALL_AGENTS, Recorder
from pfedrl.pipeline.run_file import COLUMNS, write_run, write_small


@pytest.fixture
def written(tmp_path: Path) -> Path:
    recorder = Recorder([3, 4])
    recorder.add("iteration", 0, "objective", np.array([1.0, 2.0]))
    recorder.add("iteration", 8, "value", np.array([[1.0, 2.0, 3.0], [4.0, np.nan, np.inf]]))
    path = tmp_path / "3-5.parquet"
    write_run(path, recorder.columns(), {"seeds": [3, 5]})
    return path


def test_round_trip(written: Path):
    table, facts = read_table(written)
    assert tuple(table.column_names) == COLUMNS
    rows = table.to_pylist()
    assert rows[1] == {
        "seed": 4, "agent": ALL_AGENTS, "axis": "iteration", "at": 0, "metric": "objective",
        "value": 2.0,
    }  # fmt: skip
    assert [row["agent"] for row in rows[2:]] == [0, 1, 2, 0, 1, 2]
    assert np.isnan(rows[6]["value"]) and np.isinf(rows[7]["value"])  # a diverged run is a record
    assert facts == read_facts(written) == {"seeds": [3, 5], "rows": 8}


def test_the_committed_form_keeps_facts_and_values_with_curves_side_by_side(tmp_path: Path):
    recorder = Recorder(range(2))
    for at in range(3):
        recorder.add("iteration", at, "value", np.array([[at, 0.1], [at / 3, 1e300]]))
    ours, small = tmp_path / "ours.parquet", tmp_path / "small.parquet"
    write_run(ours, recorder.columns(), {"code": "c"})
    write_small(small, *read_table(ours))
    (table, facts), (kept, kept_facts) = read_table(ours), read_table(small)
    assert facts == kept_facts
    rows, kept_rows = table.to_pandas(), kept.to_pandas()
    with np.errstate(over="ignore"):
        rows["value"] = rows["value"].astype(np.float32)
    keys = ["metric", "axis", "agent", "seed", "at"]
    assert str(rows.sort_values(keys, ignore_index=True)) == str(kept_rows)


@pytest.mark.parametrize("folder, remedy", [("runs", "snakemake"), ("published", "git restore")])
def test_missing_is_named_with_what_brings_it_back(tmp_path: Path, folder: str, remedy: str):
    with pytest.raises(PfedrlError, match=rf"no such file.*{remedy}"):
        read_table(tmp_path / folder / "0-2.parquet")


def test_recorder_refuses_other_shapes():
    recorder = Recorder(range(3))
    for shape in [(2,), (3, 2, 2)]:
        with pytest.raises(ValueError, match="is not"):
            recorder.add("iteration", 0, "value", np.zeros(shape))


def test_recorder_keeps_values_not_references():
    recorder = Recorder(range(2))
    values = np.zeros(2)
    recorder.add("iteration", 0, "value", values)
    values[:] = 1
    assert recorder.columns()["value"].tolist() == [0, 0]


def test_recorder_restores():
    recorder, other = Recorder(range(2)), Recorder(range(2))
    recorder.add("iteration", 0, "value", np.ones(2))
    other.restore(recorder.state())
    other.add("iteration", 1, "value", np.ones(2))
    assert len(other.columns()["value"]) == 4
    assert len(recorder.columns()["value"]) == 2
