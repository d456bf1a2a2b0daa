"""Classifiers in a stack: a row of numbers is one worker's body (the representation) and head.

The head is the final layer, a linear one. Bodies are fully connected layers that all workers'
products go through at once, or any module, one worker after the other: large layers and
convolutions gain nothing from a stack.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.nets import Perceptron, uniform_start
from pfedrl.stack.products import affine, product


class Training(ABC):
    """Some rows in training: their outputs, then their gradients."""

    @abstractmethod
    def outputs(self, inputs: Tensor, random: Sequence[torch.Generator]) -> Tensor:
        """[row, sample, class], of inputs [row, sample, ...]; dropout draws by rows."""

    @abstractmethod
    def backward(self, slope: Tensor) -> None:
        """Write the gradient of a loss with this slope by the outputs."""


class Classifier(ABC):
    """An architecture. It holds no weights."""

    columns: int
    part: dict[str, slice]  # columns of "body", "head", "all"
    tensors: list[slice]  # columns of each tensor that is trained
    head: Perceptron  # the final layer alone
    together: int  # rows that train at once; few, so that their weights stay in the cache
    chunk: int  # samples of a row that are looked at at once: always as many, for the same bits

    @abstractmethod
    def start(self, random: np.random.Generator) -> np.ndarray:
        """One worker's [column]."""

    def prepared(self, inputs: Tensor) -> Tensor:
        """Samples [sample, ...] as the other methods want them."""
        return inputs

    @abstractmethod
    def features(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """What the head sees [row, sample, feature], outside of training."""

    @abstractmethod
    def training(self, rows: Tensor, gradient: Tensor) -> Training:
        """For as long as these are the rows."""


def starts(net: Classifier, seed: int, workers: range, own_heads: bool) -> np.ndarray:
    """The first weights of a seed's workers [worker, column]: alike, or but for their heads."""
    rows = np.tile(net.start(generator(seed, Purpose.INITIAL)), (len(workers), 1))
    if own_heads:
        for row, worker in zip(rows, workers, strict=True):
            random = generator(seed, Purpose.INITIAL, worker)
            row[net.part["head"]] = net.head.initial(random, uniform_start)
    return rows


class StackedPerceptron(Classifier):
    """Fully connected layers with ReLU between them."""

    together, chunk = 8, 64

    def __init__(self, *sizes: int):
        self.net = Perceptron(*sizes)
        self.columns, self.part = self.net.columns, self.net.part
        self.head = Perceptron(*sizes[-2:])
        self.tensors = [
            columns
            for first, inputs, outputs in self.net.layers
            for bias in [first + inputs * outputs]
            for columns in (slice(first, bias), slice(bias, bias + outputs))
        ]

    def start(self, random: np.random.Generator) -> np.ndarray:
        return self.net.initial(random, uniform_start)

    def prepared(self, inputs: Tensor) -> Tensor:
        return inputs.flatten(1)

    def features(self, rows: Tensor, inputs: Tensor) -> Tensor:
        return self.net.forward(self.net.views(rows), inputs)[-2]

    def training(self, rows: Tensor, gradient: Tensor) -> "StackedTraining":
        return StackedTraining(self.net, rows, gradient)


class StackedTraining(Training):
    """See `Training`."""

    def __init__(self, net: Perceptron, rows: Tensor, gradient: Tensor):
        self.net, self.layers, self.into = net, net.views(rows), net.views(gradient)
        self.levels: list[Tensor] = []

    def outputs(self, inputs: Tensor, random: Sequence[torch.Generator]) -> Tensor:
        self.levels = self.net.forward(self.layers, inputs)
        return self.levels[-1]

    def backward(self, slope: Tensor) -> None:
        self.net.backward(self.layers, self.levels, slope, self.into)


class Dropout(nn.Module):
    """Like PyTorch's, but it draws from the generator of whoever's turn it is."""

    random: torch.Generator | None = None

    def __init__(self, chance: float):
        super().__init__()
        self.chance = chance

    def forward(self, inputs: Tensor) -> Tensor:
        if not self.training:
            return inputs
        assert self.random is not None
        kept = torch.rand(inputs.shape, generator=self.random, device=inputs.device) >= self.chance
        return inputs * kept / (1 - self.chance)


class LoopedModule(Classifier):
    """Any module as the body; its parameters and statistics point into the row whose turn it is.

    Statistics of batches are columns behind the body's parameters, and belong to the body.
    """

    together, chunk = 1, 16

    def __init__(
        self, body: nn.Module, inputs: tuple[int, ...], classes: int, device: torch.device
    ):
        body = body.to(device)
        for module in body.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.num_batches_tracked = None  # a plain moving average needs no count
        self.body = body.eval()
        with torch.no_grad():
            features = body(torch.zeros(1, *inputs, device=device)).shape[1]
        self.head = Perceptron(features, classes)
        self.parameters = list(body.parameters())
        self.held = [*self.parameters, *(b for b in body.buffers() if b is not None)]
        ends = np.cumsum([0, *(tensor.numel() for tensor in self.held)]).tolist()
        self.places = [slice(a, b) for a, b in pairwise(ends)]
        self.columns = ends[-1] + self.head.columns
        self.part = {
            "body": slice(0, ends[-1]),
            "head": slice(ends[-1], self.columns),
            "all": slice(0, self.columns),
        }
        matrix = ends[-1] + features * classes
        self.tensors = [
            *self.places[: len(self.parameters)],
            slice(ends[-1], matrix), slice(matrix, self.columns),
        ]  # fmt: skip
        self.dropouts = [module for module in body.modules() if isinstance(module, Dropout)]

    def start(self, random: np.random.Generator) -> np.ndarray:
        """PyTorch's: layers as in `Perceptron`, normalisations as they are made."""
        row = np.empty(self.columns, np.float32)
        columns = iter(self.places)
        normalised = (nn.BatchNorm2d,)
        for module in self.body.modules():
            own = list(module.parameters(recurse=False))
            inputs = own[0][0].numel() if own else 1
            for tensor in own:
                plain = tensor.new_tensor([float(tensor is own[0])]).numpy()
                drawn = random.uniform(-1, 1, tensor.numel()) / np.sqrt(inputs)
                row[next(columns)] = plain if isinstance(module, normalised) else drawn
        for name, _ in self.body.named_buffers():
            row[next(columns)] = float(name.endswith("var"))
        row[self.part["head"]] = self.head.initial(random, uniform_start)
        return row

    def point_at(self, row: Tensor) -> None:
        for tensor, columns in zip(self.held, self.places, strict=True):
            tensor.data = row[columns].view(tensor.shape)

    def features(self, rows: Tensor, inputs: Tensor) -> Tensor:
        found = []
        self.body.eval()
        with torch.no_grad():
            for row, own in zip(rows, inputs, strict=True):
                self.point_at(row)
                found.append(self.body(own))
        return torch.stack(found)

    def training(self, rows: Tensor, gradient: Tensor) -> "LoopedTraining":
        return LoopedTraining(self, rows, gradient)


class LoopedTraining(Training):
    """See `Training`; of one row, whose forward pass is kept by autograd."""

    def __init__(self, net: LoopedModule, rows: Tensor, gradient: Tensor):
        assert len(rows) == 1, "a module trains one row at a time"
        self.net, self.into = net, [gradient[0, columns] for columns in net.places]
        net.point_at(rows[0])
        self.head = net.head.views(rows[:, net.part["head"]])
        self.head_into = net.head.views(gradient[:, net.part["head"]])
        self.features = torch.empty(0)

    def outputs(self, inputs: Tensor, random: Sequence[torch.Generator]) -> Tensor:
        self.net.body.train()
        for dropout in self.net.dropouts:
            dropout.random = random[0]
        with torch.enable_grad():
            self.features = self.net.body(inputs[0])[None]
        ((matrix, bias),) = self.head
        return affine(bias, self.features.detach(), matrix)

    def backward(self, slope: Tensor) -> None:
        ((matrix, _),) = self.head
        self.net.head.backward(self.head, [self.features.detach()], slope, self.head_into)
        by_features = product(slope, matrix.transpose(1, 2))
        found = torch.autograd.grad(self.features, self.net.parameters, by_features)
        for place, gradient in zip(self.into, found, strict=False):
            place.copy_(gradient.view(-1))
