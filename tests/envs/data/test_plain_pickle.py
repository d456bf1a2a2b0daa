"""Pickles are read as data: nothing that they ask for is run."""

import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pfedrl.envs.data.plain_pickle import Held, columns, plain_pickle


class Malicious:
    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return subprocess.call, (["touch", str(self.path)],)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_a_command_is_refused_before_it_does(tmp_path, protocol):
    harmful = pickle.dumps(Malicious(tmp_path / "harm"), protocol=protocol)
    with pytest.raises(ValueError, match=r"it asks for \w+\.call, which is not allowed"):
        plain_pickle(harmful)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    "asked", ["builtins eval", "os system", "numpy load", "pandas read_pickle"]
)
def test_only_listed_names_are_known(asked):
    with pytest.raises(ValueError, match="not allowed"):
        plain_pickle(f"c{asked.replace(' ', chr(10))}\n.".encode())


def test_a_broken_pickle_is_a_value_error():
    with pytest.raises(ValueError, match="not read"):
        plain_pickle(pickle.dumps([1, 2, 3], protocol=0)[:-3])


def old_array(values: np.ndarray) -> bytes:
    """An array as NumPy before 2 pickled it."""
    return pickle.dumps(values, protocol=2).replace(b"numpy._core", b"numpy.core")


@pytest.mark.parametrize("kind", ["u1", "<i8", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_comes_back(kind, order):
    values = np.arange(12).reshape(3, 4).astype(kind, order=order)
    found = plain_pickle(old_array(values)).array()
    np.testing.assert_array_equal(found, values)
    assert found.dtype == values.dtype


def test_an_array_of_objects_is_refused():
    with pytest.raises(ValueError, match="no plain numbers"):
        plain_pickle(old_array(np.array(["a", None], object))).array()


def test_columns_of_a_table_by_its_blocks():
    """The layout of pandas 1: blocks of one type, each with the places of its columns."""

    def array(values):
        return plain_pickle(old_array(np.asarray(values)))

    index = Held("Index", {"data": Held()})
    index.made_of[1]["data"].state = (1, (3,), None, False, ["x", "label", "y"])
    manager = Held()
    blocks = [
        {"values": array([[1.5, 2.5], [3.5, 4.5]]), "mgr_locs": slice(0, 3, 2)},
        {"values": array([[7, 8]]), "mgr_locs": array([1])},
    ]
    manager.state = (None, None, None, {"0.14.1": {"axes": [index], "blocks": blocks}})
    frame = Held()
    frame.state = {"_data": manager}
    found = columns(frame)
    assert {name: values.tolist() for name, values in found.items()} == {
        "x": [1.5, 2.5], "label": [7, 8], "y": [3.5, 4.5]
    }  # fmt: skip
