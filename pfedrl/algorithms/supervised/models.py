"""The models of the DePRL paper (Tables 3 to 6) and the small ones of the laptop's scale.

Inputs and outputs are the data's: the paper's tables print one data set's for another's.
"""

import torch
from torch import Tensor, nn

from pfedrl.algorithms.supervised.classifiers import (
    Classifier,
    Dropout,
    LoopedModule,
    StackedPerceptron,
)
from pfedrl.algorithms.supervised.convolutions import StackedConvolutions

CPU = torch.device("cpu")


def classifier(
    model: str, inputs: tuple[int, ...], classes: int, device: torch.device = CPU
) -> Classifier:
    """A model by name, for inputs of a shape."""
    size = int(torch.Size(inputs).numel())
    if model == "mlp":
        return StackedPerceptron(size, 128, 64, classes)
    if model == "dnn":
        return LoopedModule(dnn(size), inputs, classes, device)
    channels, side = image(inputs)
    if model == "tiny_cnn":
        return StackedConvolutions(inputs, classes, (8, 16), 64)
    body = {"alexnet": alexnet, "vgg11": vgg11, "resnet18": resnet18}[model]
    return LoopedModule(body(channels, side), inputs, classes, device)


def image(inputs: tuple[int, ...]) -> tuple[int, int]:
    """Channels and side."""
    if len(inputs) != 3:
        raise ValueError(f"convolutions need images [channel, side, side], not {list(inputs)}")
    return inputs[0], inputs[1]


def dnn(size: int) -> nn.Module:
    """Table 6: dropout after the first three layers."""
    layers: list[nn.Module] = [nn.Flatten()]
    for inputs, outputs in ((size, 512), (512, 256), (256, 128)):
        layers += [nn.Linear(inputs, outputs), nn.ReLU(), Dropout(0.05)]
    return nn.Sequential(*layers, nn.Linear(128, 64), nn.ReLU())


def convolution(inputs: int, outputs: int, stride: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, 3, stride, padding=1), nn.ReLU()]


def alexnet(channels: int, side: int) -> nn.Module:
    """Table 5."""
    side = -(-side // 2) // 8
    return nn.Sequential(
        *convolution(channels, 64, 2), nn.MaxPool2d(2),
        *convolution(64, 192), nn.MaxPool2d(2),
        *convolution(192, 384), *convolution(384, 256), *convolution(256, 256), nn.MaxPool2d(2),
        nn.Flatten(), Dropout(0.2), nn.Linear(256 * side * side, 4096), nn.ReLU(),
        Dropout(0.2), nn.Linear(4096, 4096), nn.ReLU(),
    )  # fmt: skip


def vgg11(channels: int, side: int) -> nn.Module:
    """Table 4."""
    layers: list[nn.Module] = []
    for outputs in ((64,), (128, 128), (256, 256), (512, 512), (512,)):
        for width in outputs:
            layers += convolution(channels, width)
            channels = width
        layers.append(nn.MaxPool2d(2))
    side //= 32
    return nn.Sequential(
        *layers, nn.Flatten(), Dropout(0.2), nn.Linear(512 * side * side, 512), nn.ReLU(),
        nn.Linear(512, 512), nn.ReLU(), Dropout(0.2),
    )  # fmt: skip


class Residual(nn.Module):
    """Two normalised convolutions, and the input added to what they give."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.path = nn.Sequential(
            normalised(inputs, outputs, 3, stride), nn.ReLU(), normalised(outputs, outputs, 3, 1)
        )
        same = inputs == outputs and stride == 1
        self.around = nn.Identity() if same else normalised(inputs, outputs, 1, stride)

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.relu(self.path(inputs) + self.around(inputs))


def normalised(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


def resnet18(channels: int, side: int) -> nn.Module:
    """Table 3: a stem of 3x3 for small images, then pairs of blocks."""
    layers: list[nn.Module] = [normalised(channels, 64, 3, 1), nn.ReLU()]
    width = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(width, outputs, stride), Residual(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
