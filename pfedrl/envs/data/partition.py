"""Dividing labelled samples among workers who differ in their classes (DePRL, Experiments)."""

import numpy as np

TRIES = 1000  # draws before the smallest worker may have fewer samples than there are classes


def dirichlet_counts(
    sizes: np.ndarray, workers: int, pi: float, random: np.random.Generator
) -> np.ndarray:
    """How many samples of each class every worker gets: [worker, class], of class sizes [class].

    A class is divided by p ~ Dir(pi, ..., pi); who holds a worker's even share already gets none.
    Drawn again until everyone has at least as many samples as there are classes. Where a thousand
    draws give no such division, the one whose smallest worker has most is taken, and whoever has
    nothing at all gets a sample of the largest worker's largest class.
    """
    if sizes.sum() < workers:
        raise ValueError(f"{sizes.sum()} samples are not enough for {workers} workers")
    best = _drawn(sizes, workers, pi, random)
    for _ in range(TRIES - 1):
        if best.sum(axis=1).min() >= len(sizes):
            break
        counts = _drawn(sizes, workers, pi, random)
        if counts.sum(axis=1).min() > best.sum(axis=1).min():
            best = counts
    for worker in np.flatnonzero(best.sum(axis=1) == 0):
        giver = best.sum(axis=1).argmax()
        given = best[giver].argmax()
        best[giver, given] -= 1
        best[worker, given] += 1
    return best


def _drawn(sizes: np.ndarray, workers: int, pi: float, random: np.random.Generator) -> np.ndarray:
    counts = np.zeros((workers, len(sizes)), np.int64)
    for label, size in enumerate(sizes):
        open_to_more = counts.sum(axis=1) * workers < sizes.sum()
        shares = random.dirichlet(np.full(workers, pi)) * open_to_more
        if shares.sum() == 0:  # all of it went to those who get none
            shares = open_to_more.astype(float)
        ends = np.floor(np.cumsum(shares) / shares.sum() * size).astype(np.int64)
        ends[-1] = size
        counts[:, label] = np.diff(ends, prepend=0)
    return counts


def following_counts(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Other samples of the same classes, in the proportions of [worker, class]."""
    ends = np.cumsum(counts, axis=0) * sizes // np.maximum(counts.sum(axis=0), 1)
    return np.diff(ends, axis=0, prepend=0)


def divided(
    samples: np.ndarray, labels: np.ndarray, counts: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The samples in another order: worker after worker, class after class, as counted."""
    by_class = [random.permutation(samples[labels == label]) for label in range(counts.shape[1])]
    ends = np.cumsum(counts, axis=0)
    return np.concatenate([
        of_class[end - count : end]
        for worker_ends, worker in zip(ends, counts, strict=True)
        for of_class, end, count in zip(by_class, worker_ends, worker, strict=True)
    ])  # fmt: skip
