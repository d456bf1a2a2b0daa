"""Expansion: variants times the sweep are cells; cells times blocks of seeds are jobs."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import load, load_runnable
from pfedrl.core.settings import validate
from pfedrl.envs.family import Family
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Budget


@dataclass(frozen=True)
class Cell:
    """One variant at one point of the sweep, its settings resolved and checked."""

    paper: str
    experiment: str
    name: str  # the variant and the sweep's values: qavg_kappa=0.2
    variant: str
    algorithm: str
    sweep: dict[str, float]
    runnable: Any  # the Algorithm or Statement
    family: Family | None
    family_name: str
    curve_points: int
    budget: Budget = field(repr=False)

    def settings(self) -> dict[str, Any]:
        """Everything that shapes the cell's numbers, as plain values: a change means a rerun."""
        return {
            "algorithm": {"name": self.algorithm, **self.runnable.model_dump(mode="json")},
            "family": None
            if self.family is None
            else {"name": self.family_name, **self.family.model_dump(mode="json")},
            "curve_points": self.curve_points,
        }

    def key(self) -> str:
        """The settings as one line: equal where nothing that shapes the numbers differs."""
        return json.dumps(self.settings(), sort_keys=True)

    def draws_name(self) -> str:
        """The name under which the family's draws are shared between cells."""
        assert self.family is not None
        text = json.dumps(self.family.draw_settings(), sort_keys=True)
        return f"{self.family_name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    def blocks(self) -> list[str]:
        """Seed blocks; full blocks keep their name when the seed count is raised."""
        seeds, size = self.budget.seeds, self.budget.block
        return [f"{first}-{min(first + size, seeds)}" for first in range(0, seeds, size)]

    def skip(self) -> str | None:
        """Why the cell cannot run, or None."""
        reason = getattr(self.runnable, "skip", None)
        return reason(self.family) if reason is not None and self.family is not None else None


def parse_block(block: str) -> range:
    """'0-100' or '0:100' as the seeds 0 to 99."""
    try:
        first, last = (int(part) for part in block.replace(":", "-").split("-"))
    except ValueError:
        raise PfedrlError(
            f"seeds '{block}': give the first and one past the last, as in 0-100; "
            "neither may be negative."
        ) from None
    if first >= last:
        raise PfedrlError(f"seeds '{block}': the second number must be larger than the first.")
    return range(first, last)


def cells(project: Project, paper: str, experiment: str, scale: str) -> Iterator[Cell]:
    """The cells of an experiment at a scale."""
    spec = project.experiment(paper, experiment)
    budget = project.budget(project.scale(scale), paper, experiment)
    if budget is None:
        raise PfedrlError(f"workflow/scales/{scale}.yaml gives {paper}/{experiment} no budget.")
    where = f"workflow/papers/{paper}/experiments.yaml, {experiment}"
    points = [
        dict(zip(spec.sweep, p, strict=True)) for p in itertools.product(*spec.sweep.values())
    ]
    for variant, given in spec.variants.items():
        algorithm = given.get("algorithm", variant)
        runnable_class = load_runnable(algorithm, f"{where}.variants.{variant}")
        own = {key: value for key, value in given.items() if key != "algorithm"}
        shortened = {k: v for k, v in budget.algorithm.items() if k in runnable_class.model_fields}
        seen = set()
        for point in points:
            swept = {
                key.split(".")[1]: value
                for key, value in point.items()
                if key.startswith("algorithm.") and key.split(".")[1] in runnable_class.model_fields
            }
            runnable = validate(
                runnable_class, own | shortened | swept, f"{where}.variants.{variant}"
            )
            family_name, family = "", None
            if spec.family is not None:
                family_name, family = _family(project, spec.family, point, budget, where)
                swept |= {
                    key.split(".")[1]: value
                    for key, value in point.items()
                    if key.startswith("family.")
                }
            name = "_".join([variant, *(f"{key}={value:g}" for key, value in swept.items())])
            if name in seen:  # a control without the swept key is the same at every point
                continue
            seen.add(name)
            yield Cell(
                paper, experiment, name, variant, algorithm, swept, runnable, family,
                family_name, spec.curve_points, budget,
            )  # fmt: skip


def _family(
    project: Project, given: dict[str, Any], point: dict[str, Any], budget: Budget, where: str
) -> tuple[str, Family]:
    """The family at a point of the sweep: its file, what the experiment says, the budget."""
    if "name" not in given:
        raise PfedrlError(f"{where}.family: the key 'name' is missing.")
    name = given["name"]
    family_class = load("envs", name, f"{where}.family")
    swept = {k.split(".")[1]: v for k, v in point.items() if k.startswith("family.")}
    own = {key: value for key, value in given.items() if key != "name"}
    shortened = {k: v for k, v in budget.family.items() if k in family_class.model_fields}
    values = project.family_defaults(name) | own | shortened | swept
    return name, validate(family_class, values, f"{where}.family")


def find_cell(project: Project, paper: str, experiment: str, name: str, scale: str) -> Cell:
    """A cell by its name."""
    found = {cell.name: cell for cell in cells(project, paper, experiment, scale)}
    if name not in found:
        raise unknown("cell", name, found, where=f"{paper}/{experiment}")
    return found[name]


def run_path(scale: str, cell: Cell, block: str) -> Path:
    return Path(
        "results", scale, "runs", cell.paper, cell.experiment, cell.name, f"{block}.parquet"
    )


def draws_path(scale: str, cell: Cell, block: str) -> Path:
    return Path("results", scale, "envs", cell.draws_name(), f"{block}.npz")
