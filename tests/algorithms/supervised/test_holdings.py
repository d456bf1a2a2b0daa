"""Minibatches of workers with unequal data, all at once."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.algorithms.supervised.holdings import Holdings, batches
from pfedrl.envs.data.task import Split

CPU = torch.device("cpu")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(1, 20))
@settings(max_examples=20)
def test_an_epoch_has_every_sample_once_in_its_row_and_order(sizes, batch):
    sizes = sorted(sizes, reverse=True)
    random = np.random.default_rng(0)
    orders = [random.permutation(size) for size in sizes]
    found = batches(orders, batch, 0, CPU)
    seen: list[list[int]] = [[] for _ in sizes]
    for count, steps in found.stretches:
        for step in steps:
            for row in range(count):
                there = found.share[row, step] > 0
                assert there.any(), "a row without a minibatch is not among the first"
                torch.testing.assert_close(found.share[row, step].sum(), torch.tensor(1.0))
                seen[row] += found.places[row, step][there].tolist()
    assert seen == [order.tolist() for order in orders]


def test_at_most_so_many_minibatches():
    orders = [np.arange(50), np.arange(20), np.arange(3)]
    assert batches(orders, 10, 0, CPU).stretches == [(3, range(1)), (2, range(1, 2)),
                                                     (1, range(2, 5))]  # fmt: skip
    assert batches(orders, 10, 1, CPU).stretches == [(3, range(1))]
    assert batches(orders, 10, 2, CPU).stretches == [(3, range(1)), (2, range(1, 2))]


def test_those_with_most_samples_come_first():
    counts = np.array([[[2, 0], [3, 2], [0, 1]], [[1, 1], [2, 2], [0, 2]]])
    samples = np.stack([np.arange(8), 10 + np.arange(8)])
    held = Holdings.of(Split(samples, counts), CPU)
    assert held.sizes.tolist() == [5, 4, 2, 2, 2, 1]
    assert held.rows.tolist() == [1, 4, 0, 3, 5, 2]
    assert held.samples[0].tolist() == [2, 3, 4, 5, 6]
    assert held.samples[1].tolist() == [12, 13, 14, 15, 0]
