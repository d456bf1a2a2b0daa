"""A short run of every algorithm and statement, on every family that it runs on.

Their budgets are those of workflow/scales/tiny.yaml. `pfedrl verify` reruns them and compares with
what is stored; tests ask whether a seed's numbers are its own.
"""

import multiprocessing
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components, load
from pfedrl.core.settings import validate
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.execute import await_workers
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control

SCALE = "tiny"
CURVE_POINTS = 3
SWITCHES = ("unit", "step_size", "graph")  # settings that choose another way through the code


def short_runs(project: Project) -> dict[str, Cell]:
    """By name: one cell of every algorithm and family, under each of the algorithm's switches.

    Where no experiment has such a cell, the algorithm is put on the family of another one. An
    algorithm that no experiment names has one cell, that of its nearest relative.
    """
    return dict(_named(project))


def of_experiments(project: Project) -> Iterator[Cell]:
    """The cells that the papers' experiments have at this scale."""
    for paper, spec in project.papers.items():
        for experiment in spec.experiments:
            if spec.reading_of(experiment) is not None:
                continue  # the paper's own settings stand for the algorithm
            if project.budget(project.scale(SCALE), paper, experiment) is None:
                continue  # it needs data, which not everyone has
            yield from cells(project, paper, experiment, SCALE)


def _named(project: Project) -> Iterator[tuple[str, Cell]]:
    families: dict[str, Cell] = {}
    runnables: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in of_experiments(project):
        families.setdefault(cell.family_name, cell)
        runnables.setdefault((cell.algorithm, *_switches(cell)), {})[cell.family_name] = cell
    for (algorithm, *switches), own in runnables.items():
        for name, other in families.items():
            if (name == "") != ("" in own):
                continue
            any_cell = next(iter(own.values()))
            cell = own.get(name) or replace(any_cell, family=other.family, family_name=name)
            if cell.skip() is None:
                yield "-".join(filter(None, [algorithm, name, *switches])), cell
    relatives = [cell for own in runnables.values() for cell in own.values()]
    named = {name for name, *_ in runnables}
    for algorithm in sorted(components("algorithms").keys() - named):
        cell = in_place_of(relatives, algorithm)
        yield "-".join(filter(None, [algorithm, cell.family_name, *_switches(cell)])), cell


def _switches(cell: Cell) -> list[str]:
    switches = [str(getattr(cell.runnable, name, "")) for name in SWITCHES]
    endless = getattr(cell.runnable, "local_steps", 0) == float("inf")
    return [*switches, "alone" if endless else ""]


def in_place_of(relatives: Iterable[Cell], name: str) -> Cell:
    """The cell of an algorithm, or of its nearest relative with the algorithm in its place: the
    same settings, and the algorithm's own at their defaults."""
    made, others = load("algorithms", name), list(relatives)
    for base in made.__mro__:
        for cell in others if issubclass(base, Algorithm) and base is not Algorithm else ():
            if isinstance(cell.runnable, base) and cell.skip() is None:
                given = cell.runnable.model_dump(include=set(made.model_fields))
                runnable = validate(made, given, name)
                if runnable.skip(cell.family) is None:
                    return replace(cell, name=name, variant=name, algorithm=name, runnable=runnable)
    raise PfedrlError(
        f"{name}: no experiment runs an algorithm that it is derived from. Derive it from one that "
        "`pfedrl list algorithms` shows, or from the base of one."
    )


def measured(cell: Cell, seeds: range, curve_points: int = CURVE_POINTS) -> dict[str, np.ndarray]:
    """The columns that a run of a cell records."""
    recorder = Recorder(seeds)
    draws = {} if cell.family is None else cell.family.draw(seeds)
    cell.runnable.run(seeds, cell.family, draws, recorder, Control(curve_points))
    if multiprocessing.active_children():
        await_workers()
    return recorder.columns()
