"""The final values of one run, for the person who ran it."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.core.metrics import MAIN
from pfedrl.pipeline.artifact import read_run
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.fingerprint import run_code


class Final(NamedTuple):
    """A metric at its last point: agents averaged, then the mean and spread over seeds."""

    metric: str
    mean: float
    deviation: float  # nan for a single seed
    seeds: int  # with a value


def finals(path: Path) -> tuple[list[Final], dict[str, Any]]:
    """The main metrics of a run (all where it has none of those), and the facts about it."""
    table, facts = read_run(path)
    table = table.unify_dictionaries().combine_chunks()
    metric = table["metric"].chunk(0)
    codes, names = metric.indices.to_numpy(), [name.as_py() for name in metric.dictionary]
    seed, at, value = (table[key].to_numpy() for key in ("seed", "at", "value"))
    found = []
    for name in [name for name in MAIN if name in names] or sorted(names):
        rows = codes == names.index(name)
        rows &= at == at[rows].max()
        own = np.array([value[rows & (seed == one)].mean() for one in np.unique(seed[rows])])
        own = own[np.isfinite(own)]
        mean = float(own.mean()) if len(own) else float("nan")
        deviation = float(own.std(ddof=1)) if len(own) > 1 else float("nan")
        found.append(Final(name, mean, deviation, len(own)))
    return found, facts


def finished(cell: Cell, seeds: range, path: Path) -> bool:
    """Whether a file is this run: the same cell, settings, seeds and code, and whole."""
    if not path.exists():
        return False
    try:
        _, facts = read_run(path)
    except PfedrlError:
        return False  # it is written anew
    own = (cell.settings(), [seeds.start, seeds.stop], run_code(cell), cell.name, cell.experiment)
    keys = ("settings", "seeds", "code", "cell", "experiment")
    return own == tuple(facts.get(key) for key in keys)
