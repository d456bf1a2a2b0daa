"""Made-up runs of DePRL's experiments, of every cell and metric that the laptop's scale has."""

from pathlib import Path

import numpy as np
from pfedrl.pipeline.artifact import write_run

from pfedrl.analysis.summaries import paths
from pfedrl.analysis.summarise import summarise
from pfedrl.core.recorder import Recorder
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project

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


def write(project: Project, folder: Path, cell: Cell) -> Path:
    random, recorder = np.random.default_rng(len(cell.name)), Recorder(SEEDS)
    for metric in sorted(cell.runnable.metrics(cell.family)):
        single = cell.algorithm == "majority_class" or "_similarity_" in metric
        for at in ROUNDS[-1:] if single or metric.startswith(ONCE) else ROUNDS:
            recorder.add("round", at, metric, value(cell, metric, at, random))
    facts = {
        "paper": cell.paper, "experiment": cell.experiment, "cell": cell.name,
        "variant": cell.variant, "sweep": cell.sweep, "seeds": [SEEDS.start, SEEDS.stop],
        "commit": "0123456789ab", "settings": cell.settings(), "versions": {"numpy": "2.4.0"},
        "wall_seconds": 1.0, "cpu_seconds": 1.0, "peak_memory_mb": 80.0,
    }  # fmt: skip
    names = {"experiment": cell.experiment, "algorithm": cell.algorithm, "family": cell.family_name}
    path = folder / "runs" / cell.experiment / cell.name / "0-3.parquet"
    write_run(path, recorder, names, facts)
    return path


def summaries(project: Project, folder: Path) -> Path:
    """The summaries of the scale's experiments on the data that are here."""
    for experiment in project.scale(SCALE).papers["deprl"]:
        if not experiment.endswith(HERE):
            continue
        made = [write(project, folder, cell) for cell in cells(project, "deprl", experiment, SCALE)]
        summarise(made, *paths(folder / "summaries", "deprl", experiment))
    return folder / "summaries"
