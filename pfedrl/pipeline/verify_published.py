"""Published runs, made again a seed at a time: their values are kept in single precision."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.pipeline.artifact import read_facts, read_run
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import SCALES, published_folder, published_runs
from pfedrl.pipeline.short_runs import measured
from pfedrl.pipeline.verify import KEYS, Compared, compare, digest


def published_cells(project: Project, paper: str, experiment: str) -> dict[str, list[Cell]]:
    """Scale to the cells of an experiment that have published runs there."""
    return {
        scale: [
            cell
            for cell in cells(project, paper, experiment, scale)
            if any(published_folder(project.root, scale, cell).glob("*.parquet"))
        ]
        for scale in SCALES
        if project.budget(project.scale(scale), paper, experiment) is not None
    }


def listed(project: Project) -> Iterator[str]:
    """Each published experiment, and whether its code is the code here."""
    lines = 0
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            for scale, found in published_cells(project, paper, experiment).items():
                if found:
                    lines += 1
                    code = _code(project, scale, found)
                    yield f"{paper} {experiment} at the {scale} scale: {code}"
    if not lines:
        yield "nothing is published yet: pfedrl publish adds finished runs."


def _code(project: Project, scale: str, found: list[Cell]) -> str:
    older = 0
    for cell in found:
        try:
            runs = published_runs(project.root, scale, cell)
        except PfedrlError:
            return f"other settings than now ({cell.name})"
        older += any(read_facts(run)["code"] != run_code(cell) for run in runs)
    return "the code here" if not older else f"other code in {older} of {len(found)} cells"


def verify_published(
    project: Project, paper: str, experiment: str = "", name: str | None = None
) -> Iterator[Compared]:
    """Make the first published seed of a cell again; of the quickest cell, if none is named."""
    project.experiment(paper, experiment)  # a wrong name is one clear error
    by_scale = published_cells(project, paper, experiment)
    runs = {
        cell.name: (scale, cell, published_runs(project.root, scale, cell)[0])
        for scale, found in reversed(by_scale.items())  # the fuller scale wins
        for cell in found
    }
    if not runs:
        raise PfedrlError(f"{paper}/{experiment}: nothing is published. See pfedrl publish.")
    if name is not None and name not in runs:
        raise unknown("published cell", name, runs, where=f"{paper}/{experiment}")
    chosen = name or min(runs, key=lambda name: _seconds_a_seed(read_facts(runs[name][2])))
    scale, cell, path = runs[chosen]
    table, facts = read_run(path)
    seed = facts["seeds"][0]
    kept = {key: np.array(table[key].to_pylist()) for key in KEYS}
    kept["value"] = table["value"].to_numpy()
    stored = {key: column[kept["seed"] == seed] for key, column in kept.items()}
    found = measured(cell, range(seed, seed + 1), cell.curve_points)
    found["value"] = found["value"].astype(np.float32)
    full_name = f"{paper} {experiment} {chosen}, seed {seed} at the {scale} scale"
    compared = compare(full_name, digest(stored), digest(found))
    if facts["code"] == run_code(cell):
        yield compared
    else:
        remark = "; ".join(filter(None, [compared.remark, "code or libraries changed since"]))
        yield compared._replace(remark=remark)


def _seconds_a_seed(facts: dict[str, Any]) -> float:
    first, last = facts["seeds"]
    return facts["cpu_seconds"] / (last - first)
