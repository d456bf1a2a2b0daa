"""DePRL and D-PSGD as one would write them: a module and an optimiser a worker, in loops."""

import numpy as np
import torch
from torch import Tensor, nn

from pfedrl.algorithms.supervised.classifiers import StackedPerceptron
from pfedrl.algorithms.supervised.learner import SupervisedLearner
from pfedrl.core.seeds import Purpose, generator


def linear(module: nn.Module) -> list[nn.Linear]:
    return [layer for layer in module.modules() if isinstance(layer, nn.Linear)]


def module_of(net: StackedPerceptron, row: Tensor) -> nn.Sequential:
    """A row of the stack as PyTorch's own layers, whose matrices are [output, input]."""
    layers: list[nn.Module] = [nn.Flatten()]
    for (matrix, bias), (_, inputs, outputs) in zip(
        net.net.views(row[None]), net.net.layers, strict=True
    ):
        layer = nn.Linear(inputs, outputs)
        layer.weight.data, layer.bias.data = matrix[0].T.clone(), bias[0, 0].clone()
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def row_of(module: nn.Module) -> Tensor:
    pieces = [(layer.weight.data.T.reshape(-1), layer.bias.data) for layer in linear(module)]
    return torch.cat([piece for pair in pieces for piece in pair])


class PlainWorkers:
    """The workers of one seed, who start as a learner's do and see the same minibatches."""

    def __init__(self, learner: SupervisedLearner, seed: int = 0):
        assert isinstance(learner.net, StackedPerceptron)
        self.settings, self.seed, self.epochs, self.rounds = learner.settings, seed, 0, 0
        rows = learner.judged.view(*learner.shape, -1)[seed]
        self.modules = [module_of(learner.net, row) for row in rows]
        own = [learner.task.train.of(seed, worker) for worker in range(len(rows))]
        self.inputs = [torch.from_numpy(learner.task.inputs[which]) for which in own]
        self.labels = [torch.from_numpy(learner.task.labels[which]) for which in own]
        self.number = learner.seeds[seed]

    def train(self, worker: int, layers: list[nn.Linear], epochs: int, rate: float) -> None:
        """Epochs of some layers; the others rest."""
        module, settings = self.modules[worker], self.settings
        module.requires_grad_(False)
        trained = [p.requires_grad_(True) for layer in layers for p in layer.parameters()]
        optimiser = torch.optim.SGD(
            trained, lr=rate * settings.rate_decay**self.rounds, momentum=settings.momentum,
            weight_decay=settings.weight_decay,
        )  # fmt: skip
        inputs, labels = self.inputs[worker], self.labels[worker]
        for epoch in range(self.epochs, self.epochs + epochs):
            random = generator(self.number, Purpose.AGENT, worker, epoch)
            for batch in torch.from_numpy(random.permutation(len(labels))).split(settings.batch):
                optimiser.zero_grad()
                with torch.enable_grad():
                    loss = nn.functional.cross_entropy(module(inputs[batch]), labels[batch])
                    loss.backward()
                nn.utils.clip_grad_norm_(trained, settings.clip)
                optimiser.step()

    def whole_models(self) -> None:
        """A round of D-PSGD, before mixing."""
        for worker, module in enumerate(self.modules):
            self.train(worker, linear(module), self.settings.local_epochs, self.settings.rate)
        self.epochs += self.settings.local_epochs
        self.rounds += 1

    def heads_first(self) -> None:
        """A round of DePRL, before mixing."""
        for worker, module in enumerate(self.modules):
            self.train(worker, linear(module)[-1:], self.settings.local_epochs,
                       self.settings.head_rate)  # fmt: skip
        self.epochs += self.settings.local_epochs
        for worker, module in enumerate(self.modules):
            self.train(worker, linear(module)[:-1], 1, self.settings.rate)
        self.epochs += 1
        self.rounds += 1

    def mix(self, matrix: np.ndarray, layers: slice) -> None:
        """x_i <- sum_j P_ij x_j, in some layers."""
        every = [linear(module)[layers] for module in self.modules]
        for same in zip(*every, strict=True):
            for name in ("weight", "bias"):
                old = [getattr(layer, name).data.clone() for layer in same]
                for weights, layer in zip(matrix, same, strict=True):
                    mixed = sum(float(w) * other for w, other in zip(weights, old, strict=True))
                    getattr(layer, name).data = mixed

    def rows(self) -> Tensor:
        return torch.stack([row_of(module) for module in self.modules])
