"""Perceptrons in a stack: each row of a matrix holds all parameters of one agent's network."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from pfedrl.stack.products import affine, product
from pfedrl.stack.tanh import tanh_, tanh_backward_

Layers = list[tuple[torch.Tensor, torch.Tensor]]  # kernels [A, in, out] and biases [A, 1, out]


class StackedMLP:
    """tanh between layers, nothing after the last; forward and backward by batched products.

    A backward pass by hand costs half of what autograd's does at these sizes.
    """

    def __init__(self, *sizes: int):
        self.sizes = sizes
        self.shapes = list(pairwise(sizes))
        self.size = sum(rows * columns + columns for rows, columns in self.shapes)

    def initial(self, random: np.random.Generator) -> np.ndarray:
        """One network: Glorot-normal kernels (truncated at 2 sigma, as in Keras), biases zero."""
        pieces = []
        for rows, columns in self.shapes:
            drawn = random.standard_normal((4, rows * columns))
            inside = np.argmax(abs(drawn) < 2.0, axis=0)  # all four beyond: once in 2 million
            kept = np.clip(np.take_along_axis(drawn, inside[None], axis=0)[0], -2.0, 2.0)
            # 0.8796 is the standard deviation of a normal cut at 2 sigma
            pieces += [kept * np.sqrt(2.0 / (rows + columns)) / 0.87962566, np.zeros(columns)]
        return np.concatenate(pieces).astype(np.float32)

    def kernel_mask(self, layers: Sequence[int]) -> np.ndarray:
        """1 where a parameter belongs to the kernel of one of the layers: [size]."""
        pieces = []
        for index, (rows, columns) in enumerate(self.shapes):
            pieces += [np.full(rows * columns, float(index in layers)), np.zeros(columns)]
        return np.concatenate(pieces).astype(np.float32)

    def layers(self, rows: torch.Tensor) -> Layers:
        """Views of the kernels and biases in parameters [A, at least size]."""
        found, at = [], 0
        for height, width in self.shapes:
            kernel = rows[:, at : at + height * width].unflatten(1, (height, width))
            at += height * width
            found.append((kernel, rows[:, at : at + width].unsqueeze(1)))
            at += width
        return found

    def forward(self, layers: Layers, inputs: torch.Tensor) -> list[torch.Tensor]:
        """The inputs [A, n, in], each hidden layer's activation, and the outputs."""
        seen = [inputs]
        for kernel, bias in layers[:-1]:
            seen.append(tanh_(affine(bias, seen[-1], kernel)))
        kernel, bias = layers[-1]
        seen.append(affine(bias, seen[-1], kernel))
        return seen

    def backward(
        self, layers: Layers, seen: list[torch.Tensor], error: torch.Tensor, gradient: Layers
    ) -> None:
        """Write the gradient of a loss whose derivative in the outputs is `error`."""
        for index in range(len(layers) - 1, -1, -1):
            kernel, bias = gradient[index]
            product(seen[index].transpose(1, 2), error, out=kernel)
            torch.sum(error, dim=1, keepdim=True, out=bias)
            if index:
                before = product(error, layers[index][0].transpose(1, 2))
                error = tanh_backward_(before, seen[index])
