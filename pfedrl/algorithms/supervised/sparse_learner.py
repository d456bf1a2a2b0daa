"""Supervised learning under masks, which drop the smallest weights and try others: DisPFL."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.supervised.dispfl import DisPFL
from pfedrl.algorithms.supervised.learner import SupervisedLearner
from pfedrl.algorithms.supervised.settings import Phase
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.data.task import DataTask
from pfedrl.stack.exchange import Parts

SCREENING = Phase("all", 1, 0.0)  # an epoch that only gathers gradients
LEAST = 0.95  # of the cosine's half period is passed at most, so that some are always exchanged


class SparseLearner(SupervisedLearner):
    """Every tensor of every worker keeps the same share of its weights, each its own."""

    def __init__(self, task: DataTask, seeds: Sequence[int], settings: DisPFL):
        super().__init__(task, seeds, settings, settings.phases(), settings.shares)
        self.sparse = settings
        masks = np.ones(self.judged.shape, np.float32)
        for row, own in enumerate(masks):
            seed, worker = divmod(row, task.agents)
            random = generator(self.seeds[seed], Purpose.INITIAL, worker)
            for columns in self.net.tensors:
                size = columns.stop - columns.start
                dropped = random.permutation(size)[int(settings.density * size) :]
                own[columns.start + dropped] = 0
        self.masks: Tensor = torch.from_numpy(masks).to(self.device)
        self.judged.mul_(self.masks)

    @property
    def parts(self) -> Parts:
        found, masks = dict(super().parts), getattr(self, "masks", None)
        if masks is not None:
            stack = masks.view(*self.shape, -1)
            found |= {f"mask.{name}": stack[:, :, self.part[name]] for name in self.sparse.shares}
        return found

    def prepare(self) -> None:
        """Drop each tensor's smallest weights, and take in as many with the largest gradients."""
        passed = min(LEAST, self.rounds / self.sparse.exchanged_rounds)
        share = self.sparse.exchanged * (1 + math.cos(math.pi * passed)) / 2
        weights = self.judged
        for block in self.held.blocks(self.net.together):
            rows = self.held.stack_rows(block)
            own, masks = weights[rows], self.masks[rows]
            gradient = torch.zeros_like(own)
            total = torch.zeros_like(own)
            for count in self.gradients(block, own, gradient, SCREENING):
                total[:count] += gradient[:count]
            for columns in self.net.tensors:
                exchange_smallest(own[:, columns], masks[:, columns], total[:, columns], share)
            weights[rows], self.masks[rows] = own * masks, masks
        self.epochs += SCREENING.epochs


def exchange_smallest(weights: Tensor, masks: Tensor, gradient: Tensor, share: float) -> None:
    """In place of the masks [row, weight]; a weight that was dropped may be taken in again."""
    kept = int(masks[0].sum())
    count = min(math.ceil(share * kept), kept)
    if count == 0:
        return
    smallest = torch.where(masks > 0, weights.abs(), torch.inf)
    masks.scatter_(1, smallest.topk(count, largest=False, sorted=False).indices, 0.0)
    steepest = torch.where(masks > 0, -1.0, gradient.abs())
    masks.scatter_(1, steepest.topk(count, sorted=False).indices, 1.0)
