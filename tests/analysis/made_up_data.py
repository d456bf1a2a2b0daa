"""Made-up runs of DePRL's experiments, of every cell and metric that the laptop's scale has."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from pfedrl.analysis.summarise import Read
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from tests.analysis import fake

SCALE, SEEDS, ROUNDS = "laptop", range(3), (0, 2, 4, 6, 8, 10)
HERE = ("fashion_mnist", "hapt", "cifar10")  # data sets
AHEAD = {"deprl": 12, "fed_rep": 10, "dispfl": 8, "fed_rod": 8, "ditto": 6, "local_only": 4}
ONCE = ("newcomers_", "steps_to", "reached_", "samples_", "spectral_", "similarity_")


def pretend_that_data_are_here(folder: Path) -> None:
    """Files that are there and hold nothing: no run reads them."""
    for name in HERE:
        (folder / f"{name}.npz").touch()


def value(cell: Cell, metric: str, at: int, random: np.random.Generator) -> np.ndarray:
    """[seed], or [seed, agent] where agents differ."""
    family, noise = cell.family, random.normal(size=len(SEEDS))
    assert family is not None
    agents = family.agents
    if metric.startswith("samples_of_class_"):
        return np.stack([random.dirichlet(np.full(agents, family.pi)) * 400 for _ in SEEDS]).round()
    if "_similarity_" in metric:
        other, spread = int(metric.rpartition("_")[2]), 0.01 if metric.startswith("body") else 0.5
        apart = np.abs(np.arange(agents) - other) / agents
        return np.tile(1 - spread * apart, (len(SEEDS), 1))
    if metric.startswith("steps_to"):
        return 4000 / agents**0.7 * (1 + 0.05 * noise)
    if metric.startswith("reached_"):
        return np.ones(len(SEEDS))
    if metric == "similarity_correlation":
        return 0.7 + 0.02 * noise
    if metric.startswith("consensus_error"):
        return at * np.exp(-at / 4) * (1 + 0.05 * noise)
    if metric == "training_loss":
        return np.exp(-at / 3) + 0.02 * np.abs(noise)
    rise = 1 if metric.startswith("newcomers_") else 1 - np.exp(-(at + 1) / 3)
    return (60 + AHEAD.get(cell.algorithm, 0) - 10 * family.pi) * rise + noise


def read(cell: Cell) -> Read:
    random, measured = np.random.default_rng(len(cell.name)), {}
    for metric in sorted(cell.runnable.metrics(cell.family)):
        single = cell.algorithm == "majority_class" or "_similarity_" in metric
        for at in ROUNDS[-1:] if single or metric.startswith(ONCE) else ROUNDS:
            measured["round", at, metric] = value(cell, metric, at, random)
    budget = cell.budget.model_copy(update={"seeds": len(SEEDS)})
    return fake.read(replace(cell, budget=budget), measured)


def summaries(project: Project, folder: Path) -> Path:
    """The summaries of the scale's experiments on the data that are here."""
    for experiment in project.scale(SCALE).papers["deprl"]:
        if experiment.endswith(HERE):
            every = cells(project, "deprl", experiment, SCALE)
            fake.summary(folder / "summaries", "deprl", *map(read, every))
    return folder / "summaries"
