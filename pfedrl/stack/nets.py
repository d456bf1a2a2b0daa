"""Nets in a stack: a row of numbers holds all weights of one agent's net.

Layers are views on the rows, so that optimisers, target copies and exchanges work on plain rows,
and a named part of the net (embedding, body, head, log_std, ...) is a range of columns. All rows
are evaluated and differentiated at once, by the weights and by the inputs.

`Perceptron` has its backward pass written out: autograd on stacks of small nets costs more than the
matrix products it organises.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.products import affine, product
from pfedrl.stack.tanh import tanh_, tanh_backward_

Views = Sequence[tuple[Tensor, ...]]  # the tensors of each layer, views on rows of weights
Start = Callable[[np.random.Generator, int, int], np.ndarray]  # of a layer, by inputs and outputs


class Net(Protocol):
    """An architecture: which columns are what. It holds no weights."""

    columns: int
    part: Mapping[str, slice]  # columns of each part

    def views(self, rows: Tensor) -> Views:
        """The layers in rows [row, columns]; made once, they follow what the rows become."""

    def forward(self, views: Views, inputs: Tensor) -> list[Tensor]:
        """What `backward` needs, the outputs [row, sample, ...] last."""

    def backward(
        self, views: Views, levels: list[Tensor], slope: Tensor, into: Views | None,
        to_inputs: bool = False,
    ) -> Tensor | None:  # fmt: skip
        """Write a loss's gradient by the weights, given its slope by the outputs.

        `into` are views of the gradient's rows, or None where the weights' is not wanted (an
        actor's update asks the critic for its inputs' only). Returned is the slope by the inputs
        where that is asked for.
        """


def uniform_start(random: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """PyTorch's linear layers: U(-1, 1) / sqrt(inputs), biases too."""
    return random.uniform(-1, 1, (inputs + 1) * outputs) / np.sqrt(inputs)


def glorot_start(random: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """Glorot-normal matrices (truncated at 2 sigma, as in Keras), biases zero."""
    drawn = random.standard_normal((4, inputs * outputs))
    inside = np.argmax(abs(drawn) < 2.0, axis=0)  # all four beyond: once in 2 million
    kept = np.clip(np.take_along_axis(drawn, inside[None], axis=0)[0], -2.0, 2.0)
    # 0.8796 is the standard deviation of a normal cut at 2 sigma
    matrix = kept * np.sqrt(2.0 / (inputs + outputs)) / 0.87962566
    return np.concatenate([matrix, np.zeros(outputs)])


class Perceptron:
    """Fully connected layers, with ReLU or tanh between them.

    The body is all layers but the last, the head that one. Before them may stand an embedding, a
    row's own numbers that its net sees before every observation; behind them further numbers that
    no layer uses, such as a policy's `log_std`. So many `joining` numbers are inputs of the second
    layer, beside what the first makes of the observation: a critic's actions (Lillicrap et al.
    2016).
    """

    def __init__(
        self, *sizes: int, hidden: Literal["relu", "tanh"] = "relu",
        output: Literal["linear", "tanh"] = "linear", embedding: int = 0, joining: int = 0,
        further: Mapping[str, int] | None = None,
    ):  # fmt: skip
        self.embedding, self.hidden, self.output = embedding, hidden, output
        self.joining = joining
        self.layers: list[tuple[int, int, int]] = []  # first column, inputs, outputs
        column = embedding
        for inputs, outputs in pairwise((embedding + sizes[0], *sizes[1:])):
            inputs += joining if len(self.layers) == 1 else 0
            self.layers.append((column, inputs, outputs))
            column += (inputs + 1) * outputs
        head = self.layers[-1][0]
        self.part = {"embedding": slice(0, embedding), "body": slice(embedding, head),
                     "head": slice(head, column), "net": slice(embedding, column)}  # fmt: skip
        self.names = [name for name in ("embedding", "body", "head") if self._wide(name)]
        for name, size in (further or {}).items():
            self.part[name] = slice(column, column + size)
            self.names.append(name)
            column += size
        self.part["all"] = slice(0, column)
        self.columns = column

    def _wide(self, name: str) -> bool:
        return self.part[name].stop > self.part[name].start

    def initial(self, random: np.random.Generator, start: Start) -> np.ndarray:
        """One net [columns]: its layers drawn one after the other, all else zero."""
        row = np.zeros(self.columns, np.float32)
        for column, inputs, outputs in self.layers:
            row[column : column + (inputs + 1) * outputs] = start(random, inputs, outputs)
        return row

    def initial_rows(self, seed: int, rows: int, start: Start = uniform_start) -> np.ndarray:
        """A seed's agents: alike, but for their embeddings, U(-1, 1) (QAvg's code)."""
        weights = np.tile(self.initial(generator(seed, Purpose.INITIAL), start), (rows, 1))
        for row in range(rows):
            own = generator(seed, Purpose.INITIAL, row).uniform(-1, 1, self.embedding)
            weights[row, : self.embedding] = own
        return weights

    def in_matrices(self, layers: Sequence[int]) -> np.ndarray:
        """1 where a number belongs to the matrix of one of these layers, 0 elsewhere: [columns]."""
        mask = np.zeros(self.columns, np.float32)
        for column, inputs, outputs in (self.layers[layer] for layer in layers):
            mask[column : column + inputs * outputs] = 1.0
        return mask

    def views(self, rows: Tensor) -> Views:
        """Matrix [row, input, output] and bias [row, 1, output] of each layer, and the matrix of
        what joins it; the embedding [row, number] last, where there is one."""
        found: list[tuple[Tensor, ...]] = []
        for column, inputs, outputs in self.layers:
            bias = column + inputs * outputs
            matrix = rows[:, column:bias].unflatten(1, (inputs, outputs))
            found.append((matrix, rows[:, bias : bias + outputs].unsqueeze(1)))
        if self.joining:
            matrix, bias_of = found[1]
            own = matrix.shape[1] - self.joining
            found[1] = matrix[:, :own], bias_of, matrix[:, own:]
        return [*found, (rows[:, : self.embedding],)] if self.embedding else found

    def with_embedding(self, views: Views, observations: Tensor) -> Tensor:
        """The inputs of nets that see these observations [row, sample, number]."""
        if not self.embedding:
            return observations
        own = views[-1][0][:, None].expand(-1, observations.shape[1], -1)
        return torch.cat([own, observations], dim=2)

    def outputs(self, rows: Tensor, observations: Tensor) -> Tensor:
        """[row, sample, output], for once."""
        views = self.views(rows)
        return self.forward(views, self.with_embedding(views, observations))[-1]

    def forward(self, views: Views, inputs: Tensor, joining: Tensor | None = None) -> list[Tensor]:
        """The inputs of every layer, then the outputs."""
        levels = [inputs]
        for matrix, bias, *of_joining in views[: len(self.layers)]:
            levels.append(affine(bias, levels[-1], matrix))
            if of_joining and joining is not None:
                levels[-1] = affine(levels[-1], joining, *of_joining)
            if len(levels) <= len(self.layers):
                tanh_(levels[-1]) if self.hidden == "tanh" else levels[-1].relu_()
        if self.output == "tanh":
            tanh_(levels[-1])
        return levels

    def backward(
        self, views: Views, levels: list[Tensor], slope: Tensor, into: Views | None,
        to_inputs: bool = False, head_only: bool = False, joining: Tensor | None = None,
    ) -> Tensor | None:  # fmt: skip
        """See `Net`; with `head_only` no gradient but the head's is written.

        Of a net with joining numbers it is their slope that is returned.
        """
        if self.output == "tanh":
            slope = tanh_backward_(slope.clone(), levels[-1])
        embedded = into is not None and self.embedding > 0
        by_inputs = None
        for layer in reversed(range(len(self.layers))):
            joined = layer == 1 and joining is not None
            if into is not None:
                product(levels[layer].transpose(1, 2), slope, out=into[layer][0])
                torch.sum(slope, 1, keepdim=True, out=into[layer][1])
                if joined and joining is not None:
                    product(joining.transpose(1, 2), slope, out=into[layer][2])
            if head_only:
                return None
            if joined and to_inputs:
                by_inputs = product(slope, views[layer][2].transpose(1, 2))
                if into is None:  # what lies before is of no interest
                    return by_inputs
            if layer or embedded or (to_inputs and by_inputs is None):
                slope = product(slope, views[layer][0].transpose(1, 2))
            if layer and self.hidden == "tanh":
                slope = tanh_backward_(slope, levels[layer])
            elif layer:
                slope = torch.ops.aten.threshold_backward(slope, levels[layer], 0)
        if into is not None and embedded:
            into[-1][0].copy_(slope[:, :, : self.embedding].sum(1))
        if not to_inputs:
            return None
        return slope if by_inputs is None else by_inputs
