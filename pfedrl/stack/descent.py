"""SGD with momentum, weight decay and clipping on a block of rows: PyTorch's rule, one pass each.

On the CPU the loops are compiled; elsewhere the same is done by torch's operations.
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from pfedrl.stack.optimisers import sgd

# sums in any order: one that depends on the number of columns alone, not on the rows
kernel: Any = njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@kernel
def clip_rows(gradient, first, last, limit):
    """Columns first to last of rows with a larger norm than the limit are scaled down to it."""
    for r in range(len(gradient)):
        own = gradient[r, first:last]
        square = np.float32(0.0)
        for p in range(len(own)):
            square += own[p] * own[p]
        size = np.sqrt(square)
        if size > limit:
            share = np.float32(limit / (size + 1e-6))
            for p in range(len(own)):
                own[p] *= share


class Descent:
    """Steps on some columns of rows of weights, by their gradients; the momentum starts at rest."""

    def __init__(
        self, weights: Tensor, gradient: Tensor, columns: slice, momentum: float, decay: Tensor,
        limit: float,
    ):  # fmt: skip
        self.weights, self.gradient, self.columns = weights, gradient, columns
        self.momentum, self.decay, self.limit = momentum, decay, limit  # decay [column]
        self.velocity = torch.zeros_like(weights)

    def step(self, rows: int, rate: float) -> None:
        """One step of the first rows."""
        weights, gradient, velocity = (
            block[:rows] for block in (self.weights, self.gradient, self.velocity)
        )
        first, last = self.columns.start, self.columns.stop
        if weights.device.type != "cpu":
            step_by_torch(
                weights[:, first:last], gradient[:, first:last], velocity[:, first:last],
                rate, self.momentum, self.decay[first:last], self.limit,
            )  # fmt: skip
            return
        clip_rows(gradient.numpy(), first, last, self.limit)
        sgd(
            weights.numpy(), gradient.numpy(), velocity.numpy(), np.full(rows, rate),
            np.ones(rows, np.bool_), first, last, self.momentum, self.decay.numpy(),
        )  # fmt: skip


def step_by_torch(
    weights: Tensor, gradient: Tensor, velocity: Tensor, rate: float, momentum: float,
    decay: Tensor, limit: float,
) -> None:  # fmt: skip
    """The same on any device."""
    size = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
    velocity.mul_(momentum).addcmul_(gradient, (limit / (size + 1e-6)).clamp(max=1.0))
    velocity.addcmul_(decay, weights)
    weights.add_(velocity, alpha=-rate)
