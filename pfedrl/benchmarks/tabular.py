"""Batched kernels against a plain NumPy loop over seeds, on the same seeds."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.tabular.averaging import TabularAveraging
from pfedrl.algorithms.tabular.learner import TabularLearner
from pfedrl.core.recorder import Recorder
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control, train
from tests.plain import tabular as plain_loop

KAPPA = 0.4
PLAIN_SEEDS = 6
BATCHED_SEEDS = 2000


def plain(algorithm: str, settings: TabularAveraging, learner: TabularLearner) -> np.ndarray:
    """The final tables [seed, s, a] of the plain loop, from the learner's own start."""
    task = learner.task
    transitions = task.dense(task.training)
    shape = (task.states, task.actions)
    tables = []
    for seed in range(task.seeds):
        problem = plain_loop.Problem(
            transitions[seed], task.reward[:, seed].reshape(shape), task.start, task.gamma
        )
        start = learner.tables[0, :, seed].reshape(shape)
        steps = settings.exchange(task, range(task.seeds)).steps
        table, _ = plain_loop.train(
            algorithm, problem, start, settings.rounds(), steps, settings.learning_rate,
            settings.decay,
        )  # fmt: skip
        tables.append(table)
    return np.stack(tables)


def batched(learner: TabularLearner, settings: TabularAveraging) -> np.ndarray:
    """The final tables [seed, s, a] of the batched learner."""
    task, seeds = learner.task, range(learner.task.seeds)
    exchange = settings.exchange(task, seeds)
    train(learner, exchange, settings.rounds(), Recorder(seeds), Control())
    return np.moveaxis(learner.tables.mean(axis=0), -1, 0).reshape(-1, task.states, task.actions)


def fresh(cell: Cell, seeds: int) -> TabularLearner:
    """A learner that has not begun."""
    assert cell.family is not None
    task = cell.family.task(cell.family.draw(range(seeds)))
    learner: TabularLearner = cell.runnable.learner(task, range(seeds))
    return learner


def compare(project: Project, experiment: str) -> Iterator[tuple[str, str, float, float, float]]:
    """Family, algorithm, milliseconds a seed of either way, and the largest difference."""
    for cell in cells(project, "qavg", experiment, "paper"):
        if cell.sweep.get("kappa") != KAPPA or not isinstance(cell.runnable, TabularAveraging):
            continue
        settings = cell.runnable
        few, warm = fresh(cell, PLAIN_SEEDS), fresh(cell, PLAIN_SEEDS)
        started = time.perf_counter()
        expected = plain(cell.algorithm, settings, few)
        plain_time = (time.perf_counter() - started) / PLAIN_SEEDS
        found = batched(warm, settings)  # compiles as well
        many = fresh(cell, BATCHED_SEEDS)
        started = time.perf_counter()
        batched(many, settings)
        batched_time = (time.perf_counter() - started) / BATCHED_SEEDS
        difference = float(np.abs(found - expected).max())
        yield (
            cell.family_name,
            settings.label,
            1e3 * plain_time,
            1e3 * batched_time,
            difference,
        )


def main() -> None:
    """Print the ratio of the two ways for each family and algorithm of Table 1."""
    table = Table(title="QAvg's Table 1: milliseconds a seed and kappa, one thread")
    for column in ("family", "algorithm", "plain NumPy", "batched", "ratio", "largest difference"):
        table.add_column(column, justify="left" if column in ("family", "algorithm") else "right")
    project = Project.here(Path.cwd())
    for experiment in ("table1_random_mdps", "table1_windy_cliffs"):
        for family, algorithm, slow, fast, difference in compare(project, experiment):
            table.add_row(
                family, algorithm, f"{slow:.1f}", f"{fast:.3f}", f"{slow / fast:.0f}",
                f"{difference:.1e}",
            )  # fmt: skip
    Console().print(table)
