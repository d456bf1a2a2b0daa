"""Supervised learning of the whole stack: all workers of all seeds, in phases of minibatch SGD."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.supervised.classifiers import starts
from pfedrl.algorithms.supervised.holdings import Batches, Holdings, batches
from pfedrl.algorithms.supervised.measures import Measures
from pfedrl.algorithms.supervised.models import classifier
from pfedrl.algorithms.supervised.outputs import features, head_outputs, slope
from pfedrl.algorithms.supervised.settings import Phase, SupervisedSettings
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.data.task import DataTask
from pfedrl.stack.denormals import flushed_denormals
from pfedrl.stack.descent import Descent
from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner

ROOM = 2**24  # numbers that the features of head-only epochs may take at once


class SupervisedLearner(Learner):
    """Models of workers, each with samples of its own.

    A local step is one round of all phases. Phases that train heads alone compute the features
    once, by the body as it is outside of training (without dropout).
    """

    def __init__(
        self, task: DataTask, seeds: Sequence[int], settings: SupervisedSettings,
        phases: Sequence[Phase], shares: tuple[str, ...] = (), own_heads: bool = False,
        models: tuple[str, ...] = ("",), second_head: bool = False, first_worker: int = 0,
    ):  # fmt: skip
        self.task, self.seeds, self.settings, self.phases = task, list(seeds), settings, phases
        self.shape = (task.seeds, task.agents)
        self.workers = range(first_worker, first_worker + task.agents)
        wanted = settings.device == "cuda" and torch.cuda.is_available()
        self.device = torch.device("cuda" if wanted else "cpu")
        self.labels = torch.from_numpy(task.labels).to(self.device)
        self.held = Holdings.of(task.train, self.device)
        self.net = classifier(settings.model, task.inputs.shape[1:], task.classes, self.device)
        self.inputs = self.net.prepared(torch.from_numpy(task.inputs)).to(self.device)
        self.part = dict(self.net.part)
        first = np.concatenate([starts(self.net, seed, self.workers, own_heads) for seed in seeds])
        if second_head:  # columns that the net does not use, behind its own
            self.part["personal"] = slice(first.shape[1], first.shape[1] + self.net.head.columns)
            first = np.hstack([first, first[:, self.part["head"]]])
        start = torch.from_numpy(first).to(self.device)
        self.models = {name: start.clone() for name in models}  # [row, column] each
        self.trained = torch.zeros(start.shape[1], device=self.device)  # statistics are not
        for columns in (*self.net.tensors, self.part.get("personal", slice(0, 0))):
            self.trained[columns] = 1
        self.decay = self.trained * settings.weight_decay
        self.masks: Tensor | None = None  # [row, column]: 0 where a weight stays 0
        self.rounds = 0
        self.epochs = 0  # of all phases so far: each has its own order of samples
        self.measures = Measures(self, shares)

    @property
    def parts(self) -> Parts:
        """Views [seed, worker, column]; "model.part" where a worker has several models."""
        return {
            f"{model}.{name}" if model else name: rows.view(*self.shape, -1)[:, :, self.part[name]]
            for model, rows in self.models.items()
            for name in ("body", "head", "personal")
            if name in self.part
        }

    @property
    def judged(self) -> Tensor:
        """The model that a worker is tested with: the last one, [row, column]."""
        return list(self.models.values())[-1]

    @flushed_denormals()  # chances of classes that a worker does not have become that small
    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.prepare()
            received = next(iter(self.models.values()))
            if any(phase.pull for phase in self.phases):
                received = received.clone()
            for phase in self.phases:
                rate = phase.rate * self.settings.rate_decay**self.rounds
                if phase.trains in ("head", "personal"):
                    self._train_heads(phase, rate)
                else:
                    self._train_models(phase, rate, received)
                self.epochs += phase.epochs
            self.rounds += 1
        self.measures.before_mixing()

    def prepare(self) -> None:
        """What a round begins with, before its phases."""

    def _train_models(self, phase: Phase, rate: float, received: Tensor) -> None:
        """Block after block of rows, whose weights stay in the processor's cache meanwhile."""
        weights = self.models[phase.model]
        for block in self.held.blocks(self.net.together):
            rows = self.held.stack_rows(block)
            own = weights[rows]
            kept = None if self.masks is None else self.masks[rows]
            gradient = torch.zeros_like(own)
            descent = self._descent(own, gradient, self.part[phase.trains], self.decay)
            anchor = received[rows] if phase.pull else own
            for count in self.gradients(block, own, gradient, phase):
                if phase.pull:
                    away = own[:count] - anchor[:count]
                    gradient[:count].addcmul_(away, self.trained, value=phase.pull)
                self.adjust(
                    own[:, self.part[phase.trains]], gradient[:, self.part[phase.trains]], rows,
                    self.part[phase.trains], slice(count),
                )  # fmt: skip
                descent.step(count, rate)
                if kept is not None:
                    own[:count] *= kept[:count]
            weights[rows] = own

    def gradients(self, block: slice, own: Tensor, gradient: Tensor, phase: Phase) -> Iterator[int]:
        """One minibatch after the other, the gradient of the first so many rows of a block."""
        samples = self.held.samples[block]
        prior = self._prior(block) if phase.balanced else None
        for epoch in range(phase.epochs):
            drawn, randoms = self._batches(block, self.epochs + epoch, phase.steps)
            for count, steps in drawn.stretches:
                net = self.net.training(own[:count], gradient[:count])
                for step in steps:
                    which = samples[:count].gather(1, drawn.places[:count, step])
                    outputs = net.outputs(self.inputs[which], randoms)
                    if prior is not None:
                        outputs = outputs + prior[:count]
                    net.backward(slope(outputs, self.labels[which], drawn.share[:count, step]))
                    yield count

    def _train_heads(self, phase: Phase, rate: float) -> None:
        """All heads at once, or as many as there is room for their features."""
        weights, columns, head = self.models[phase.model], self.part[phase.trains], self.net.head
        most = int(self.held.sizes[0]) * head.layers[0][1]
        for block in self.held.blocks(max(1, ROOM // most)):
            rows = self.held.stack_rows(block)
            held, labels = weights[rows], self.labels[self.held.samples[block]]
            seen = features(self.net, held, self.inputs, self.held, block)
            given = None  # what the first head says, to which a second one adds
            if phase.trains == "personal":
                given = head_outputs(self.net, held[:, self.part["head"]], seen)
            own = held[:, columns].contiguous()
            gradient = torch.zeros_like(own)
            descent = self._descent(own, gradient, slice(0, head.columns), self.decay[columns])
            everyone = torch.arange(len(own), device=self.device)[:, None]
            for epoch in range(phase.epochs):
                drawn, _ = self._batches(block, self.epochs + epoch, phase.steps)
                for count, steps in drawn.stretches:
                    layers, into = (head.views(numbers[:count]) for numbers in (own, gradient))
                    for step in steps:
                        which = everyone[:count], drawn.places[:count, step]
                        levels = head.forward(layers, seen[which])
                        outputs = levels[-1] if given is None else levels[-1] + given[which]
                        by_outputs = slope(outputs, labels[which], drawn.share[:count, step])
                        head.backward(layers, levels, by_outputs, into)
                        self.adjust(own, gradient, rows, columns, slice(count))
                        descent.step(count, rate)
            weights[:, columns][rows] = own

    def _descent(self, own: Tensor, gradient: Tensor, columns: slice, decay: Tensor) -> Descent:
        settings = self.settings
        return Descent(own, gradient, columns, settings.momentum, decay, settings.clip)

    def _batches(
        self, block: slice, epoch: int, most: int
    ) -> tuple[Batches, list[torch.Generator]]:
        """Each row's order of its samples in an epoch, and what its dropout draws from."""
        orders, randoms = [], []
        for row, size in zip(self.held.rows[block], self.held.sizes[block], strict=True):
            seed, worker = divmod(int(row), self.shape[1])
            random = generator(self.seeds[seed], Purpose.AGENT, self.workers[worker], epoch)
            orders.append(random.permutation(size))
            own = torch.Generator(self.device)
            randoms.append(own.manual_seed(int(random.integers(2**63))))
        return batches(orders, self.settings.batch, most, self.device), randoms

    def _prior(self, block: slice) -> Tensor:
        """The logarithms of how many samples of each class a row has: [row, 1, class]."""
        counts = self.task.train.counts.reshape(-1, 1, self.task.classes)
        return torch.from_numpy(counts).to(self.device)[self.held.stack_rows(block)].float().log()

    def observe(self) -> None:
        self.measures.after_mixing()

    def measure(self) -> Iterable[Measurement]:
        return self.measures.measured()

    def newcomers(self, task: DataTask) -> "SupervisedLearner":
        """New workers: the mean of the first model's bodies, and fresh heads that they train."""
        settings = self.settings
        phase = Phase("head", settings.newcomer_epochs, settings.head_rate)
        learner = SupervisedLearner(
            task, self.seeds, settings, (phase,), own_heads=True, first_worker=self.workers.stop
        )
        body = next(iter(self.models.values())).view(*self.shape, -1)[:, :, self.part["body"]]
        for rows, own in zip(learner.judged.view(*learner.shape, -1), body, strict=True):
            rows[:, self.part["body"]] = own.mean(0)
        learner.measures.wanted = set()
        return learner

    def state(self) -> dict[str, Any]:
        return {
            "models": {name: rows.cpu().numpy() for name, rows in self.models.items()},
            "masks": None if self.masks is None else self.masks.cpu().numpy(),
            "rounds": self.rounds,
            "epochs": self.epochs,
            "measures": self.measures.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name, rows in state["models"].items():
            self.models[name] = torch.from_numpy(rows).to(self.device)
        if state["masks"] is not None:
            self.masks = torch.from_numpy(state["masks"]).to(self.device)
        self.rounds, self.epochs = state["rounds"], state["epochs"]
        self.measures.restore(state["measures"])
