"""Averages of sparse models, each weight over those who have it: DisPFL (Dai et al. 2022)."""

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, stack_shape
from pfedrl.stack.mixing import contract


class ByMask(Exchange):
    """Weights are averaged over those neighbours, and oneself, whose masks keep them.

    "mask.<part>" is 1 where a worker has a weight and 0 where it has none. Masks stay as they are;
    they are sent beside the weights, as a bit each.
    """

    def __init__(self, linked: np.ndarray, shares: tuple[str, ...]):
        super().__init__()
        self.shares = shares
        everyone = np.eye(linked.shape[-1], dtype=bool)
        self.linked = (linked | everyone).astype(float)  # [seed, worker, worker]

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        each = np.zeros(stack_shape(parts))  # bytes of one copy
        for name in self.shares:
            part, mask = parts[name], parts[f"mask.{name}"]
            holders = contract(self.linked, mask)
            # where nobody among them has it, nor has oneself
            part[...] = mask * contract(self.linked, part) / holders.clip(1)
            kept = mask.sum(-1)
            each += np.asarray(kept.cpu() if hasattr(kept, "cpu") else kept) * part.itemsize
            each += mask.shape[-1] / 8
        return each * (self.linked.sum(axis=-2) - 1)
