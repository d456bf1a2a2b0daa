"""Who holds which samples, as tensors, and in which minibatches an epoch goes through them.

Workers hold unequal numbers of samples. Those with most come first, so that whoever still has a
minibatch to go is always among the first rows of a block, and nobody is computed in vain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pfedrl.envs.data.task import Split


@dataclass(frozen=True)
class Holdings:
    """The samples of all rows of a stack, [seed, worker] flattened."""

    rows: np.ndarray  # [place in the order]: rows of the stack, those with most samples first
    sizes: np.ndarray  # [place in the order]: how many they are
    samples: Tensor  # [place in the order, sample]: which; 0 beyond the size

    @classmethod
    def of(cls, split: Split, device: torch.device) -> "Holdings":
        sizes = split.sizes.reshape(-1)
        rows = np.argsort(-sizes, kind="stable")
        samples = split.padded().reshape(len(sizes), -1)[rows].astype(np.int64)
        return cls(rows, sizes[rows], torch.from_numpy(samples).to(device))

    def stack_rows(self, block: slice) -> Tensor:
        """Where a block's rows are in the stack."""
        return torch.from_numpy(self.rows[block]).to(self.samples.device)

    def blocks(self, together: int) -> Iterator[slice]:
        """So many at a time, in this order."""
        for first in range(0, len(self.rows), together):
            yield slice(first, min(first + together, len(self.rows)))


@dataclass(frozen=True)
class Batches:
    """An epoch of some rows, those with most samples first."""

    places: Tensor  # [row, step, sample of the minibatch]: which of the row's own
    share: Tensor  # [row, step, sample]: of the minibatch's mean; 0 where there is no sample
    stretches: list[tuple[int, range]]  # how many rows there are at these steps


def batches(orders: Sequence[np.ndarray], batch: int, most: int, device: torch.device) -> Batches:
    """Each row's own samples in its order; at most so many minibatches, unless that is 0."""
    steps = np.array([-(-len(order) // batch) for order in orders])
    places = np.zeros((len(orders), steps[0] * batch), np.int64)
    there = np.zeros(places.shape, np.float32)
    for row, order in enumerate(orders):
        places[row, : len(order)] = order
        there[row, : len(order)] = 1
    share = there.reshape(len(orders), -1, batch)
    share /= np.maximum(share.sum(axis=2, keepdims=True), 1)
    if most:
        steps = np.minimum(steps, most)
    ends = np.unique(steps).tolist()
    return Batches(
        torch.from_numpy(places).view(share.shape).to(device),
        torch.from_numpy(share).to(device),
        [
            (int((steps >= end).sum()), range(begin, end))
            for begin, end in zip([0, *ends], ends, strict=False)
            if end > begin
        ],
    )
