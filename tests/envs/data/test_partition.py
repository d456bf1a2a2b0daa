"""Partitions by Dirichlet(pi): nobody shares a sample, nobody has none, tests follow training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfedrl.envs.data.partition import dirichlet_counts, divided, following_counts

SIZES = st.lists(st.integers(5, 400), min_size=2, max_size=10).map(np.array)


@given(SIZES, st.integers(1, 8), st.sampled_from([0.1, 0.3, 0.5, 10.0]), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_every_sample_goes_to_one_worker_and_every_worker_has_one(sizes, workers, pi, seed):
    counts = dirichlet_counts(sizes, workers, pi, np.random.default_rng(seed))
    np.testing.assert_array_equal(counts.sum(axis=0), sizes)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) >= 1).all()


@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.5]))
@settings(max_examples=30, deadline=None)
def test_where_it_can_be_everyone_has_a_sample_for_every_class(seed, pi):
    counts = dirichlet_counts(np.full(10, 600), 16, pi, np.random.default_rng(seed))
    assert counts.sum(axis=1).min() >= 10


@given(SIZES, SIZES, st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_proportions_of_the_test_follow_those_of_training(sizes, others, workers, seed):
    tested = np.resize(others, len(sizes))
    counts = dirichlet_counts(sizes, workers, 0.3, np.random.default_rng(seed))
    following = following_counts(counts, tested)
    np.testing.assert_array_equal(following.sum(axis=0), tested)
    assert (np.abs(following - counts / sizes * tested) < 1).all()


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_divided_samples_are_those_counted(seed, workers):
    random = np.random.default_rng(seed)
    samples = np.sort(random.permutation(1000)[:300])
    labels = random.integers(0, 4, 300)
    counts = dirichlet_counts(np.bincount(labels, minlength=4), workers, 0.3, random)
    order = divided(samples, labels, counts, random)
    np.testing.assert_array_equal(np.sort(order), samples)
    label_of = dict(zip(samples, labels, strict=True))
    ends = np.cumsum(counts.sum(axis=1))
    for worker, own in enumerate(np.split(order, ends[:-1])):
        found = np.bincount([label_of[sample] for sample in own], minlength=4)
        np.testing.assert_array_equal(found, counts[worker])


def test_a_smaller_pi_is_more_heterogeneous():
    """The largest share of a class that one worker has, of 10 classes and 20 workers."""
    largest = {
        pi: np.mean([
            dirichlet_counts(np.full(10, 1000), 20, pi, np.random.default_rng(seed)).max(axis=0)
            for seed in range(10)
        ])
        for pi in (0.1, 0.5, 100.0)
    }  # fmt: skip
    assert largest[0.1] > 1.3 * largest[0.5] > 1.3**2 * largest[100.0]


def test_more_workers_than_samples_are_refused():
    with pytest.raises(ValueError, match="3 samples are not enough for 4 workers"):
        dirichlet_counts(np.array([1, 2]), 4, 0.3, np.random.default_rng(0))
