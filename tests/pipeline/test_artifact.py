"""A run's artifact: written, read back, and named when it is broken."""

from pathlib import Path

import numpy as np
import pytest
from pfedrl.pipeline.artifact import COLUMNS, read_facts, read_run, write_run

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.recorder import ALL_AGENTS, Recorder

NAMES = {"experiment": "table1", "algorithm": "qavg", "family": "random_mdp"}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    recorder = Recorder([3, 4])
    recorder.add("iteration", 0, "objective", np.array([1.0, 2.0]))
    recorder.add("iteration", 8, "value", np.array([[1.0, 2.0, 3.0], [4.0, np.nan, np.inf]]))
    path = tmp_path / "0-2.parquet"
    write_run(path, recorder, NAMES, {"seeds": [3, 5]})
    return path


def test_round_trip(written: Path):
    table, facts = read_run(written)
    assert tuple(table.column_names) == COLUMNS
    rows = table.to_pylist()
    assert rows[1] == {
        **NAMES, "seed": 4, "agent": ALL_AGENTS, "axis": "iteration", "at": 0,
        "metric": "objective", "value": 2.0,
    }  # fmt: skip
    assert [row["agent"] for row in rows[2:]] == [0, 1, 2, 0, 1, 2]
    assert np.isnan(rows[6]["value"]) and np.isinf(rows[7]["value"])  # a diverged run is a record
    assert facts == read_facts(written) == {"seeds": [3, 5], "rows": 8}


@pytest.mark.parametrize("kept", [0, 10, 0.5, -1])
def test_truncated_is_named_with_its_remedy(written: Path, kept: float):
    whole = written.read_bytes()
    size = int(len(whole) * kept) if 0 < kept < 1 else int(kept) % len(whole)
    written.write_bytes(whole[:size])
    for read in (read_run, read_facts):
        with pytest.raises(PfedrlError) as caught:
            read(written)
        assert caught.value.exit_code == BROKEN_ARTIFACT
        message = str(caught.value)
        assert "\n" not in message
        assert f"rm {written} && snakemake --cores all {written}" in message


def test_a_flipped_bit_changes_nothing_or_is_named(written: Path):
    whole, (table, facts) = written.read_bytes(), read_run(written)
    random = np.random.default_rng(0)
    named = 0
    for bit in random.choice(8 * len(whole), 600, replace=False):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        written.write_bytes(flipped)
        try:
            found, said = read_run(written)
        except PfedrlError as error:
            assert error.exit_code == BROKEN_ARTIFACT
            named += 1
        else:
            assert str(found.to_pydict()) == str(table.to_pydict()), f"bit {bit}"
            assert {key: said[key] for key in facts} == facts, f"bit {bit}"
    assert named > 300


def test_missing_is_named(tmp_path: Path):
    with pytest.raises(PfedrlError, match="no such artifact"):
        read_run(tmp_path / "none.parquet")


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
