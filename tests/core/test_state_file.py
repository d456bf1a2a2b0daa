"""A nested state in one file: what went in comes back, nothing runs, a changed bit is noticed."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pfedrl.core.state_file import DIGEST, LENGTH, MAGIC, read_state, write_state


def same(ours: object, theirs: object) -> bool:
    """Equal in type and in every bit."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        pairs = zip(ours.items(), theirs.items(), strict=True)
        return len(ours) == len(theirs) and all(same(a, b) for a, b in pairs)
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, torch.Tensor):
        alike = not ours.numel() or ours.stride() == theirs.stride()
        return alike and same(ours.numpy(), theirs.numpy())
    if isinstance(ours, np.ndarray | np.generic):
        alike = ours.dtype == theirs.dtype and ours.shape == theirs.shape
        return alike and ours.tobytes() == theirs.tobytes()
    return repr(ours) == repr(theirs)  # tells 0.0 from -0.0, and nan is nan


arrays = hnp.arrays(
    st.one_of(hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.floating_dtypes(),
              hnp.complex_number_dtypes(), hnp.unicode_string_dtypes()),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)  # fmt: skip
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), arrays,
    arrays.filter(lambda a: a.size).map(lambda a: a.flat[0]),
)  # fmt: skip
keys = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
states = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(keys, inner)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(states)
def test_what_comes_back_is_what_went_in(tmp_path: Path, state: object):
    write_state(tmp_path / "state", state)
    assert same(read_state(tmp_path / "state"), state)


def test_tensors_orders_views_and_generators_come_back(tmp_path: Path):
    generator = np.random.default_rng(3)
    table = generator.random((3, 4))
    state = {
        "tensor": torch.arange(6.0).reshape(2, 3),
        "transposed": torch.arange(6).reshape(2, 3).T,
        "no numbers": torch.empty(0, dtype=torch.float64),
        "columns first": np.asfortranarray(table),
        "view": table[::2, 1:],
        "generators": [generator.bit_generator.state, np.random.Philox(4).state],
    }
    write_state(tmp_path / "state", state)
    kept = read_state(tmp_path / "state")
    assert same(kept, state)
    assert kept["columns first"].flags.f_contiguous
    drawn = generator.random(5)
    again = np.random.default_rng()
    again.bit_generator.state = kept["generators"][0]
    np.testing.assert_array_equal(again.random(5), drawn)
    kept["view"][...] = 0  # and can be written to


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, np.array([None]), np.random.default_rng(), Path("x"), b"x"]
)
def test_what_would_not_come_back_is_refused_when_it_is_written(tmp_path: Path, value: object):
    with pytest.raises(TypeError, match=r"^state\['learner'\]\[1\]: .* cannot hold"):
        write_state(tmp_path / "state", {"learner": [1, value]})
    assert not (tmp_path / "state").exists()


def test_every_flipped_bit_is_noticed(tmp_path: Path):
    path = tmp_path / "state"
    write_state(path, {"round": 3, "weights": np.arange(2.0), "names": ("a", None)})
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(ValueError, match=r"format|checksum"):
                read_state(path)


@pytest.mark.parametrize("kept", [0, 5, 20, 60, -1])
def test_a_file_cut_short_is_noticed(tmp_path: Path, kept: int):
    path = tmp_path / "state"
    write_state(path, np.arange(12.0))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"format|checksum"):
        read_state(path)


class Trap:
    def __reduce__(self):
        return Path.touch, (Path("sprung"),)


def crafted(text: bytes, rest: bytes = b"") -> bytes:
    """A file whose checksum fits, whatever it holds."""
    import hashlib

    body = LENGTH.pack(len(text)) + text + rest
    return MAGIC + hashlib.new(DIGEST, body).digest() + body


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Trap()),
        crafted(pickle.dumps(Trap())),
        crafted(json.dumps({"state": {"array": 0}, "arrays": [["|O", [1], "C"]]}).encode(),
                pickle.dumps(Trap())),
        crafted(json.dumps({"state": {"array": 0}, "arrays": [["<f8", [9], "C"]]}).encode()),
        crafted(json.dumps({"state": {"Trap": []}, "arrays": []}).encode()),
        crafted(json.dumps({"state": {"array": 7}, "arrays": []}).encode()),
        crafted(b"[]"),
        crafted(b""),
    ],
)  # fmt: skip
def test_a_crafted_file_runs_nothing(tmp_path: Path, monkeypatch, content: bytes):
    monkeypatch.chdir(tmp_path)
    Path("state").write_bytes(content)
    with pytest.raises(ValueError):
        read_state(Path("state"))
    assert not Path("sprung").exists()
    pickle.loads(pickle.dumps(Trap()))  # the trap would have sprung
    assert Path("sprung").exists()
