"""A small convolutional classifier in a stack, as products of patches: for a few channels this is
faster than a module in a loop, and than grouped convolutions."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.supervised.classifiers import Classifier, Training
from pfedrl.stack.nets import Perceptron, Views, uniform_start
from pfedrl.stack.products import affine, product

SIDE = 3  # of a kernel


class StackedConvolutions(Classifier):
    """3x3 convolutions that halve the image, then a fully connected layer and the head; ReLU.

    Images are [row, sample, y, x, channel], with a border of zeros; a kernel is a matrix
    [y x channel, output].
    """

    together, chunk = 4, 16

    def __init__(
        self, image: tuple[int, ...], classes: int, channels: tuple[int, ...], hidden: int
    ):
        inputs, side, _ = image
        self.sides: list[int] = []  # of the images that the convolutions give
        shapes: list[tuple[int, int]] = []
        for outputs in channels:
            side = -(-side // 2)
            self.sides.append(side)
            shapes.append((SIDE * SIDE * inputs, outputs))
            inputs = outputs
        shapes += [(side * side * inputs, hidden), (hidden, classes)]
        self.layers: list[tuple[int, int, int]] = []  # first column, inputs, outputs
        self.tensors, column = [], 0
        for rows, outputs in shapes:
            self.layers.append((column, rows, outputs))
            bias, end = column + rows * outputs, column + (rows + 1) * outputs
            self.tensors += [slice(column, bias), slice(bias, end)]
            column = end
        self.columns, self.head = column, Perceptron(hidden, classes)
        start = self.layers[-1][0]
        self.part = {
            "body": slice(0, start), "head": slice(start, column), "all": slice(0, column),
        }  # fmt: skip

    def start(self, random: np.random.Generator) -> np.ndarray:
        pieces = [uniform_start(random, inputs, outputs) for _, inputs, outputs in self.layers]
        return np.concatenate(pieces).astype(np.float32)

    def prepared(self, inputs: Tensor) -> Tensor:
        return bordered(inputs.permute(0, 2, 3, 1))

    def views(self, rows: Tensor) -> Views:
        found = []
        for column, inputs, outputs in self.layers:
            bias = column + inputs * outputs
            matrix = rows[:, column:bias].unflatten(1, (inputs, outputs))
            found.append((matrix, rows[:, bias : bias + outputs].unsqueeze(1)))
        return found

    def levels(self, views: Views, images: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The inputs of every product, and what each gave."""
        rows, samples = images.shape[:2]
        seen: list[Tensor] = []
        given: list[Tensor] = []
        for number, (matrix, bias) in enumerate(views):
            if number < len(self.sides):
                if number:
                    before = self.sides[number - 1]
                    images = bordered(given[-1].view(rows, samples, before, before, -1))
                seen.append(patches(images, self.sides[number]))
            else:
                seen.append(given[-1].view(rows, samples, -1))
            given.append(affine(bias, seen[-1], matrix))
            if number < len(views) - 1:
                given[-1].relu_()
        return seen, given

    def features(self, rows: Tensor, inputs: Tensor) -> Tensor:
        return self.levels(self.views(rows), inputs)[0][-1]

    def training(self, rows: Tensor, gradient: Tensor) -> "ConvolutionsTraining":
        return ConvolutionsTraining(self, rows, gradient)


class ConvolutionsTraining(Training):
    """See `Training`."""

    def __init__(self, net: StackedConvolutions, rows: Tensor, gradient: Tensor):
        self.net, self.layers, self.into = net, net.views(rows), net.views(gradient)
        self.seen: list[Tensor] = []
        self.given: list[Tensor] = []

    def outputs(self, inputs: Tensor, random: Sequence[torch.Generator]) -> Tensor:
        self.seen, self.given = self.net.levels(self.layers, inputs)
        return self.given[-1]

    def backward(self, slope: Tensor) -> None:
        sides = self.net.sides
        rows, samples = slope.shape[:2]
        for number in reversed(range(len(self.layers))):
            product(self.seen[number].transpose(1, 2), slope, out=self.into[number][0])
            torch.sum(slope, 1, keepdim=True, out=self.into[number][1])
            if not number:
                return
            slope = product(slope, self.layers[number][0].transpose(1, 2))
            if number < len(sides):
                slope = unpatched(slope.view(rows, samples, -1, slope.shape[2]), sides[number - 1])
            slope = slope.view(self.given[number - 1].shape)
            slope = torch.ops.aten.threshold_backward(slope, self.given[number - 1], 0)


def bordered(images: Tensor) -> Tensor:
    """[..., y, x, channel] with zeros around."""
    *first, height, width, channels = images.shape
    found = images.new_zeros(*first, height + 2, width + 2, channels)
    found[..., 1:-1, 1:-1, :] = images
    return found


def patches(images: Tensor, side: int) -> Tensor:
    """What the kernel sees at every second place: [row, sample place, number]."""
    rows, samples, _, _, channels = images.shape
    row, sample, down, right, _ = images.stride()
    found = images.as_strided(
        (rows, samples, side, side, SIDE, SIDE * channels),
        (row, sample, 2 * down, 2 * right, down, 1),
    )
    return found.reshape(rows, samples * side * side, SIDE * SIDE * channels)


def unpatched(slope: Tensor, side: int) -> Tensor:
    """The slope by images of a side [row, sample, y, x, channel], given the one by their patches
    [row, sample, place, number]."""
    rows, samples, places, numbers = slope.shape
    half, channels = round(places**0.5), numbers // SIDE**2
    own = slope.view(rows, samples, half, half, SIDE, SIDE, channels)
    found = slope.new_zeros(rows, samples, 2 * half + 1, 2 * half + 1, channels)
    for down in range(SIDE):
        for right in range(SIDE):
            ends = slice(down, down + 2 * half, 2), slice(right, right + 2 * half, 2)
            found[:, :, ends[0], ends[1]] += own[:, :, :, :, down, right]
    return found[:, :, 1 : side + 1, 1 : side + 1].contiguous()
