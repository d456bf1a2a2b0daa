"""Stacked workers against a plain PyTorch loop, and what the paper's models cost.

Ways are timed in turn, so that what else the machine does weighs on all of them alike.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.supervised.classifiers import StackedPerceptron
from pfedrl.algorithms.supervised.d_psgd import DPSGD
from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.learner import SupervisedLearner
from pfedrl.algorithms.supervised.models import classifier
from pfedrl.algorithms.supervised.outputs import slope
from pfedrl.algorithms.supervised.settings import Phase
from pfedrl.envs.data.data_sets import FACTS
from pfedrl.envs.data.partition import dirichlet_counts, divided
from pfedrl.envs.data.task import DataTask, Split
from pfedrl.stack.descent import Descent
from tests.plain.supervised import PlainWorkers, linear

WORKERS, SAMPLES = 32, 12_000
PARTS = 5  # the fastest of so many counts
MORE = 5  # head-only epochs after the first, by which one is timed
# the paper's: data, model, minibatch, training samples, and rounds, which it does not say (ours)
PAPER = (
    ("cifar100", "resnet18", 128, 50_000),
    ("cifar10", "vgg11", 16, 50_000),
    ("fashion_mnist", "alexnet", 16, 60_000),
    ("harbox", "dnn", 16, 32_000),
)
ROUNDS, EPOCHS = 100, 2


def noise(workers: int = WORKERS, samples: int = SAMPLES, pi: float = 0.1) -> DataTask:
    """As large as the laptop's Fashion-MNIST, divided as it is."""
    random, facts = np.random.default_rng(0), FACTS["fashion_mnist"]
    labels = random.integers(facts.classes, size=samples)
    inputs = random.standard_normal((samples, *facts.shape)).astype(np.float32)
    sizes = np.bincount(labels, minlength=facts.classes)
    counts = dirichlet_counts(sizes, workers, pi, random)
    own = Split(divided(np.arange(samples), labels, counts, random)[None], counts[None])
    return DataTask(inputs, labels, facts.classes, own, own)


def learner_of(algorithm: DPSGD | DePRL, task: DataTask) -> SupervisedLearner:
    learner = algorithm.learner(task, [0])
    learner.measures.wanted = set()
    return learner


def in_turn(*ways: Callable[[], object]) -> list[float]:
    """Seconds of this process's processor time, the fastest of each."""
    found: list[list[float]] = [[] for _ in ways]
    for part in range(PARTS + 1):
        for way, times in zip(ways, found, strict=True):
            started = time.process_time()
            way()
            if part:  # the first one compiles, and fills the caches
                times.append(time.process_time() - started)
    return [min(times) for times in found]


def rounds(algorithm: DPSGD | DePRL, task: DataTask) -> tuple[float, float]:
    """Seconds of a round, by a plain loop and stacked; mixing is in both."""
    learner, exchange = learner_of(algorithm, task), algorithm.exchange(task, [0])
    plain = PlainWorkers(learner)
    (matrix,) = algorithm.matrices(task.agents, [0])

    def loop() -> None:
        plain.whole_models() if isinstance(algorithm, DPSGD) else plain.heads_first()
        plain.mix(matrix, slice(None) if isinstance(algorithm, DPSGD) else slice(-1))

    def stacked() -> None:
        learner.advance(1)
        exchange(learner.parts, 0)

    one, other = in_turn(loop, stacked)
    return one, other


def heads_by_full_forward(learner: SupervisedLearner, phase: Phase) -> None:
    """Heads that are trained with the whole net's forward pass for every minibatch."""
    net, settings = learner.net, learner.settings
    assert isinstance(net, StackedPerceptron)
    for block in learner.held.blocks(net.together):
        rows, samples = learner.held.stack_rows(block), learner.held.samples[block]
        own = learner.judged[rows]
        gradient = torch.zeros_like(own)
        descent = Descent(own, gradient, net.part["head"], settings.momentum, learner.decay,
                          settings.clip)  # fmt: skip
        for epoch in range(phase.epochs):
            drawn, _ = learner._batches(block, learner.epochs + epoch, 0)
            for count, steps in drawn.stretches:
                layers, into = (net.net.views(numbers[:count]) for numbers in (own, gradient))
                for step in steps:
                    which = samples[:count].gather(1, drawn.places[:count, step])
                    levels = net.net.forward(layers, learner.inputs[which])
                    by = slope(levels[-1], learner.labels[which], drawn.share[:count, step])
                    net.net.backward(layers, levels, by, into, head_only=True)
                    descent.step(count, phase.rate)
        learner.judged[rows] = own


def heads(task: DataTask) -> dict[str, float]:
    """Seconds of a head-only epoch: by a plain loop, by full passes, and on features at hand; and
    what these take, once a phase."""
    algorithm = DePRL(model="mlp", graph="ring", communication_rounds=1)
    learner = learner_of(algorithm, task)
    plain, phase = PlainWorkers(learner), learner.phases[0]

    def loop() -> None:
        for worker, module in enumerate(plain.modules):
            plain.train(worker, linear(module)[-1:], 1, phase.rate)

    def cached(epochs: int) -> Callable[[], None]:
        return lambda: learner._train_heads(replace(phase, epochs=epochs), phase.rate)

    one = replace(phase, epochs=1)
    ways = loop, lambda: heads_by_full_forward(learner, one), cached(1), cached(1 + MORE)
    plainly, fully, first, many = in_turn(*ways)
    an_epoch = (many - first) / MORE
    return {"plain": plainly, "full": fully, "epoch": an_epoch, "features": first - an_epoch}


def step_of(model: str, shape: tuple[int, ...], classes: int, batch: int) -> float:
    """Seconds of a minibatch's gradient and step."""
    net = classifier(model, shape, classes)
    rows = torch.from_numpy(net.start(np.random.default_rng(0)))[None]
    gradient = torch.zeros_like(rows)
    descent = Descent(rows, gradient, net.part["all"], 0.9, torch.zeros(net.columns), 10.0)
    inputs, labels = torch.randn(1, batch, *shape), torch.randint(classes, (1, batch))
    share, randoms = torch.full((1, batch), 1 / batch), [torch.Generator()]
    training = net.training(rows, gradient)

    def step() -> None:
        training.backward(slope(training.outputs(inputs, randoms), labels, share))
        descent.step(1, 0.001)

    return in_turn(step)[0]


def main() -> None:
    """Print three tables."""
    task = noise()
    table = Table(title=f"A round of {WORKERS} workers, {SAMPLES:,} samples, MLP: ms, one thread")
    for column in ("", "plain loop", "stacked", "ratio"):
        table.add_column(column, justify="right" if column else "left")
    for kind in (DPSGD, DePRL):
        algorithm = kind(model="mlp", graph="ring", communication_rounds=1)
        loop, stacked = rounds(algorithm, task)
        name = algorithm.label
        table.add_row(name, f"{1e3 * loop:.0f}", f"{1e3 * stacked:.0f}", f"{loop / stacked:.1f}")
    Console().print(table)
    found = heads(task)
    table = Table(title="A head-only epoch of theirs: ms")
    for column in ("plain loop", "stacked, full passes", "features at hand", "these, once",
                   "ratios"):  # fmt: skip
        table.add_column(column, justify="right")
    table.add_row(
        *(f"{1e3 * seconds:.0f}" for seconds in found.values()),
        f"{found['plain'] / found['epoch']:.1f}, {found['full'] / found['epoch']:.1f}",
    )
    Console().print(table)
    table = Table(title=f"The paper's models: D-PSGD, {ROUNDS} rounds of {EPOCHS} epochs, a seed")
    for column in ("data", "model", "minibatch", "ms a step", "core-hours"):
        table.add_column(column, justify="left" if column in ("data", "model") else "right")
    for data, model, batch, samples in PAPER:
        facts = FACTS[data]
        seconds = step_of(model, facts.shape, facts.classes, batch)
        hours = seconds * samples / batch * EPOCHS * ROUNDS / 3600
        table.add_row(facts.title, model, str(batch), f"{1e3 * seconds:.0f}", f"{hours:.1f}")
    Console().print(table)
