"""The ways that the benchmark compares see the same, resets included."""

import contextlib

import numpy as np
import pytest

from pfedrl.benchmarks import walkers


@pytest.mark.filterwarnings("ignore:.*settotalmass")
@pytest.mark.parametrize("name", walkers.TASKS)
def test_gymnasiums_vector_of_environments_sees_the_same(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # gymnasium's cheetah makes MuJoCo write a log
    monkeypatch.setattr(walkers, "ROWS", 3)
    size = {"hopper": 3, "half_cheetah": 6}[name]
    actions = np.random.default_rng(0).uniform(-1, 1, (60, 3, size)).astype(np.float32)
    with contextlib.ExitStack() as opened:
        expected = walkers.gymnasiums(name, "sync", opened)(actions)
    for threads in (1, 2):
        np.testing.assert_array_equal(walkers.ours(name, threads)(actions), expected)
