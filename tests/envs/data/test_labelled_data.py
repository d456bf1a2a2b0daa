"""Workers with their own mix of classes: whose samples are whose, and that seeds are their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.data import data_sets
from pfedrl.envs.data.data_sets import Arrays
from pfedrl.envs.data.labelled_data import LabelledData


def family(**given) -> LabelledData:
    return LabelledData(**{"data": "clusters", "agents": 6, "pi": 0.3, **given})


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5]))
@settings(max_examples=10, deadline=None)
def test_every_sample_is_used_at_most_once_and_labels_are_as_counted(seed, pi):
    task = (made := family(pi=pi, train_samples=900, test_samples=300)).task(made.draw([seed]))
    assert task.train.samples.shape == (1, 900)
    assert task.test.samples.shape == (1, 300)
    both = np.concatenate([task.train.samples[0], task.test.samples[0]])
    assert len(np.unique(both)) == 1200 == len(task.inputs) == len(task.labels)
    for split in (task.train, task.test):
        for worker in range(task.agents):
            labels = task.labels[split.of(0, worker)]
            found = np.bincount(labels, minlength=task.classes)
            np.testing.assert_array_equal(found, split.counts[0, worker])


def test_a_seed_alone_is_the_seed_in_a_block():
    made = family(newcomers=3, newcomers_pi=[0.1, 0.5])
    block, alone = made.draw(range(3)), made.draw([2])
    assert block.keys() == alone.keys()
    for key in block:
        np.testing.assert_array_equal(block[key][2:], alone[key])
    assert (block["train_0"][0] != block["train_0"][1]).any()


def test_newcomers_divide_the_same_samples_anew():
    made = family(newcomers=3, newcomers_pi=[0.1, 0.5])
    task = made.task(made.draw([0]))
    assert [group.agents for group in task.newcomers] == [3, 3]
    for group in task.newcomers:
        np.testing.assert_array_equal(np.sort(group.train.samples), np.sort(task.train.samples))
        assert group.inputs is task.inputs


def test_padded_rows_are_everyones_samples():
    made = family()
    split = made.task(made.draw(range(2))).train
    rows = split.padded()
    assert rows.shape == (2, 6, split.sizes.max())
    for seed, worker in np.ndindex(2, 6):
        size = split.sizes[seed, worker]
        np.testing.assert_array_equal(rows[seed, worker, :size], split.of(seed, worker))
        assert (rows[seed, worker, size:] == 0).all()


def test_more_samples_than_there_are_is_an_error():
    with pytest.raises(PfedrlError, match="5,000 samples are asked for, and the data have 2,000"):
        family(train_samples=5000).draw([0])


@pytest.fixture
def fashion(tmp_path, monkeypatch) -> Arrays:
    """A small stand-in for Fashion-MNIST, in a folder of its own."""
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    random = np.random.default_rng(0)
    made = Arrays(
        random.integers(0, 256, (200, 1, 28, 28), np.uint8), np.arange(200, dtype=np.uint8) % 10,
        random.integers(0, 256, (50, 1, 28, 28), np.uint8), np.arange(50, dtype=np.uint8) % 10,
    )  # fmt: skip
    data_sets.write("fashion_mnist", made)
    return made


def test_inputs_are_normalised_by_channel(fashion):
    made = family(data="fashion_mnist", agents=2)
    assert made.skip() is None
    task = made.task(made.draw([0]))
    assert task.inputs.dtype == np.float32
    expected = (fashion.train_inputs / 255 - 0.2860) / 0.3530
    np.testing.assert_allclose(task.inputs[:200], expected, atol=1e-5)


def test_data_that_are_not_there_are_a_reason_to_skip_not_a_crash(tmp_path, monkeypatch):
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    assert family().skip() is None
    missing = family(data="cifar10")
    assert missing.skip() == "CIFAR-10 is not here (bring it: pfedrl data fetch cifar10)"
    with pytest.raises(PfedrlError, match="CIFAR-10 is not here"):
        missing.draw([0])


def test_a_broken_file_is_named(fashion, tmp_path):
    (tmp_path / "fashion_mnist.npz").write_bytes(b"PK\x03\x04 half")
    with pytest.raises(PfedrlError, match="Bring them again"):
        family(data="fashion_mnist", agents=2).draw([0])


def test_arrays_that_cannot_be_the_data_set_are_not_written(fashion, tmp_path):
    wrong = fashion._replace(train_labels=fashion.train_labels + 1)
    with pytest.raises(ValueError, match="train labels are not all below 10"):
        data_sets.write("fashion_mnist", wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["fashion_mnist.npz"]
