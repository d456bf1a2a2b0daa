"""What learners of labelled data see: samples, and who holds which."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Split:
    """The samples that each worker of each seed holds."""

    samples: np.ndarray  # [seed, sample]: rows of the task's arrays, worker after worker
    counts: np.ndarray  # [seed, worker, class]: how many of each class

    @property
    def sizes(self) -> np.ndarray:
        """How many samples a worker has: [seed, worker]."""
        return self.counts.sum(axis=-1)

    def of(self, seed: int, worker: int) -> np.ndarray:
        """One worker's samples, by the seed's row in the block."""
        ends = np.cumsum(self.sizes[seed])
        return self.samples[seed, ends[worker] - self.sizes[seed, worker] : ends[worker]]

    def padded(self) -> np.ndarray:
        """Everyone's samples [seed, worker, place]; places beyond a worker's size hold sample 0."""
        sizes = self.sizes
        rows = np.zeros((*sizes.shape, sizes.max()), self.samples.dtype)
        for seed, worker in np.ndindex(sizes.shape):
            rows[seed, worker, : sizes[seed, worker]] = self.of(seed, worker)
        return rows


@dataclass(frozen=True)
class DataTask:
    """The workers of all seeds: what they train on and are tested on, and new workers."""

    inputs: np.ndarray  # [sample, ...], single precision, normalised
    labels: np.ndarray  # [sample], int64
    classes: int
    train: Split
    test: Split
    newcomers: "tuple[DataTask, ...]" = ()  # workers who come later, a group each

    @property
    def agents(self) -> int:
        return self.train.counts.shape[1]

    @property
    def seeds(self) -> int:
        return self.train.counts.shape[0]
