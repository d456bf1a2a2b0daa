"""From files as they are given away to arrays, on small files of the same form."""

import gzip
import pickle
import struct

import numpy as np
import pytest

from pfedrl.envs.data.converters import CONVERTERS, WINDOW, idx
from pfedrl.envs.data.data_sets import FACTS, checked, digest


def idx_file(values: np.ndarray) -> bytes:
    return (
        b"\0\0\x08"
        + struct.pack(f">B{values.ndim}I", values.ndim, *values.shape)
        + (values.tobytes())
    )


def pixels(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def test_fashion_mnist_from_compressed_and_from_plain_files(tmp_path):
    expected = []
    for part, count in (("train", 7), ("t10k", 3)):
        images, labels = pixels(count, 28, 28), np.arange(count, dtype=np.uint8)
        packed = gzip.compress(idx_file(images))
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(packed)
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(idx_file(labels))
        expected += [images[:, None], labels]
    found = checked("fashion_mnist", CONVERTERS["fashion_mnist"](tmp_path))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_idx_file_of_other_numbers_is_refused():
    with pytest.raises(ValueError, match="idx file of bytes"):
        idx(b"\0\0\x0d\x01" + bytes(8))


def test_cifar10_has_five_batches_and_a_test(tmp_path):
    images, labels = pixels(6, 3, 32, 32), np.arange(6, dtype=np.uint8)
    records = np.concatenate([labels[:, None], images.reshape(6, -1)], axis=1)
    for number in range(5):
        (tmp_path / f"data_batch_{number + 1}.bin").write_bytes(records[number].tobytes())
    (tmp_path / "test_batch.bin").write_bytes(records[5:].tobytes())
    found = checked("cifar10", CONVERTERS["cifar10"](tmp_path))
    np.testing.assert_array_equal(found.train_inputs, images[:5])
    np.testing.assert_array_equal(found.train_labels, labels[:5])
    np.testing.assert_array_equal(found.test_inputs, images[5:])


def test_cifar100_is_the_same_from_both_versions(tmp_path):
    binary, python = tmp_path / "binary", tmp_path / "python"
    for folder in (binary, python):
        folder.mkdir()
    for part, count in (("train", 5), ("test", 2)):
        images, fine = pixels(count, 3 * 1024), np.arange(40, 40 + count, dtype=np.uint8)
        records = np.concatenate([np.zeros((count, 1), np.uint8), fine[:, None], images], axis=1)
        (binary / f"{part}.bin").write_bytes(records.tobytes())
        held = pickle.dumps({b"data": images, b"fine_labels": fine.tolist()}, protocol=2)
        (python / part).write_bytes(held.replace(b"numpy._core", b"numpy.core"))
    ours, theirs = (checked("cifar100", CONVERTERS["cifar100"](f)) for f in (binary, python))
    assert ours.train_labels.tolist() == [40, 41, 42, 43, 44]
    assert digest(ours) == digest(theirs)


def test_hapt_windows_overlap_by_half_within_one_activity_and_test_users_are_apart(tmp_path):
    """User 1: 400 samples of activity 3 from the second on, then a transition, then 160 of 6.
    User 2, one of the test users: 149 of activity 1, too few, and 150 of activity 2."""
    lines = ["1 1 3 2 401", "1 1 8 402 450", "1 1 6 451 610", "2 2 1 1 149", "2 2 2 150 299"]
    (tmp_path / "labels.txt").write_text("\n".join(lines))
    signals = {}
    for experiment, length in ((1, 700), (2, 300)):
        signals[experiment] = np.random.default_rng(experiment).normal(size=(6, length))
        for kind, rows in (("acc", slice(0, 3)), ("gyro", slice(3, 6))):
            path = tmp_path / f"{kind}_exp0{experiment}_user0{experiment}.txt"
            np.savetxt(path, signals[experiment][rows].T)
    found = checked("hapt", CONVERTERS["hapt"](tmp_path))
    assert found.train_labels.tolist() == [2, 2, 2, 2, 5]
    assert found.test_labels.tolist() == [1]
    starts = [1, 76, 151, 226, 450]
    for window, start in zip(found.train_inputs, starts, strict=True):
        expected = signals[1][:, start : start + WINDOW]
        np.testing.assert_array_equal(window, expected.astype(np.float32))
    np.testing.assert_array_equal(found.test_inputs[0], signals[2][:, 149:299].astype(np.float32))


def test_harbox_windows_lose_their_first_column_and_the_last_fifth_is_tested(tmp_path):
    random = np.random.default_rng(3)
    for user in (1, 2):
        for activity in ("Call", "Hop", "typing", "Walk", "Wave"):
            np.savetxt(tmp_path / f"{user}_{activity}_train.txt", random.normal(size=(1000, 10)))
    found = checked("harbox", CONVERTERS["harbox"](tmp_path))
    assert found.train_inputs.shape == (2 * 5 * 8, 900)
    assert np.bincount(found.test_labels).tolist() == [4] * 5
    np.testing.assert_allclose(found.train_inputs.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(found.train_inputs.std(axis=0), 1, atol=1e-4)


@pytest.mark.parametrize("name", FACTS)
def test_a_missing_file_is_named(name, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no"):
        CONVERTERS[name](tmp_path)
