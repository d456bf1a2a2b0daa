"""Fully connected ReLU nets, one a replica, evaluated and differentiated all at once.

All weights of a replica are one row: an embedding (where there is one), the body, the head. Layers
are views on it, so that Adam, target copies and exchanges work on plain rows, and a part of the net
is a range of columns. The backward pass is written out: autograd on stacks costs more than the
matrix products it organises.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.products import affine, product

PARTS = ("embedding", "body", "head")
Layers = list[tuple[Tensor, Tensor]]  # matrix and bias of each layer, views on rows of weights


class StackedNet:
    """The architecture: which columns are which layer. It holds no weights."""

    def __init__(self, observation: int, actions: int, width: int, layers: int, embedding: int = 0):
        self.embedding = embedding
        sizes = [embedding + observation, *[width] * layers, actions]
        self.layers: list[tuple[int, int, int]] = []  # first column, inputs, outputs
        column = embedding
        for inputs, outputs in pairwise(sizes):
            self.layers.append((column, inputs, outputs))
            column += (inputs + 1) * outputs
        self.columns = column
        head = self.layers[-1][0]
        self.part = {  # columns of each part, and of parts that are trained together
            "embedding": slice(0, embedding),
            "body": slice(embedding, head),
            "head": slice(head, self.columns),
            "net": slice(embedding, self.columns),
            "all": slice(0, self.columns),
        }

    def initial(self, seed: int, rows: int) -> np.ndarray:
        """PyTorch's linear layers' start, U(-1, 1)/sqrt(inputs), the same in all rows of a seed.

        Embeddings are the row's own, U(-1, 1) (QAvg's code).
        """
        weights = np.empty((rows, self.columns), np.float32)
        rng = generator(seed, Purpose.INITIAL)
        for column, inputs, outputs in self.layers:
            count = (inputs + 1) * outputs
            weights[:, column : column + count] = rng.uniform(-1, 1, count) / np.sqrt(inputs)
        for row in range(rows):
            own = generator(seed, Purpose.INITIAL, row).uniform(-1, 1, self.embedding)
            weights[row, : self.embedding] = own
        return weights

    def views(self, weights: Tensor) -> Layers:
        """Matrix [replica, input, output] and bias [replica, 1, output] of each layer."""
        views = []
        for column, inputs, outputs in self.layers:
            bias = column + inputs * outputs
            matrix = weights[:, column:bias].view(-1, inputs, outputs)
            views.append((matrix, weights[:, bias : bias + outputs].unsqueeze(1)))
        return views

    def values(self, weights: Tensor, observation: Tensor) -> Tensor:
        """Q [replica, row, action] of observations [replica, row, observation]."""
        if self.embedding:
            own = weights[:, None, : self.embedding].expand(-1, observation.shape[1], -1)
            observation = torch.cat([own, observation], dim=2)
        return activations(self.views(weights), observation)[-1]

    def backward(
        self, layers: Layers, levels: Sequence[Tensor], slope: Tensor, gradient: Tensor,
        into: Layers, head_only: bool = False,
    ) -> None:  # fmt: skip
        """The loss's gradient by the weights, given its slope by the output.

        It is written in place; `into` are the views of `gradient`.
        """
        for layer in reversed(range(len(layers))):
            product(levels[layer].transpose(1, 2), slope, out=into[layer][0])
            torch.sum(slope, 1, keepdim=True, out=into[layer][1])
            if head_only:
                return
            if layer or self.embedding:
                slope = product(slope, layers[layer][0].transpose(1, 2))
            if layer:
                slope = torch.ops.aten.threshold_backward(slope, levels[layer], 0)
        if self.embedding:
            gradient[:, : self.embedding] = slope[:, :, : self.embedding].sum(1)


def activations(layers: Layers, inputs: Tensor) -> list[Tensor]:
    """The input of every layer, then the output [replica, row, action]."""
    levels = [inputs]
    for matrix, bias in layers[:-1]:
        levels.append(affine(bias, levels[-1], matrix).relu_())
    matrix, bias = layers[-1]
    levels.append(affine(bias, levels[-1], matrix))
    return levels
