"""Expansion: variants times the sweep are cells; cells times blocks of seeds are jobs."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import load, load_runnable, named, runnable_name
from pfedrl.core.settings import validate
from pfedrl.envs.attack import attacked
from pfedrl.envs.data.checksum import arrays_digest
from pfedrl.envs.data.data_sets import FACTS, path_of
from pfedrl.envs.family import Family
from pfedrl.pipeline.checks import check_budget, check_sweep
from pfedrl.pipeline.paper import Experiment
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Budget

FORMAT = 1  # of the key; a new number gives every run a new key
OWN = Budget(seeds=1, block=1)  # changes nothing: the experiment's own settings


@dataclass(frozen=True, eq=False)
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
    data: str | None = None  # the digest of its data set's arrays, where it has one

    def settings(self) -> dict[str, Any]:
        """All that shapes the cell's numbers besides its data, as plain values."""
        return {
            "algorithm": {"name": self.algorithm, **self.runnable.said()},
            "family": None
            if self.family is None
            else {"name": self.family_name, **self.family.said()},
            "curve_points": self.curve_points,
        }

    @cached_property
    def key(self) -> str:
        """What the run is, in ten digits: equal where nothing that shapes the numbers differs."""
        known = {"format": FORMAT, **self.settings(), "data": self.data}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:10]

    @property
    def folder(self) -> str:
        """The name of its runs in the store."""
        names = [self.algorithm.replace("/", "."), self.family_name, self.key]
        return "-".join(filter(None, names))

    @property
    def seeds(self) -> range:
        return range(self.budget.seeds)

    def draws_name(self) -> str:
        """The name under which the family's draws are shared between cells."""
        assert self.family is not None
        text = json.dumps(self.family.draw_settings(), sort_keys=True)
        return f"{self.family_name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    def blocks(self) -> list[str]:
        """Seed blocks; full blocks keep their name when the seed count is raised."""
        seeds, size = self.budget.seeds, self.budget.block
        return [f"{first}-{min(first + size, seeds)}" for first in range(0, seeds, size)]

    def unfit(self) -> str | None:
        """Why the algorithm cannot run on the family anywhere, or None."""
        reason = getattr(self.runnable, "skip", None)
        return reason(self.family) if reason is not None and self.family is not None else None

    def skip(self) -> str | None:
        """Why the cell cannot run, here or anywhere, or None."""
        return self.unfit() or (None if self.family is None else self.family.skip())


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


def cells(project: Project, paper: str, experiment: str, scale: str | None) -> Iterator[Cell]:
    """The cells of an experiment at a scale, or with its own settings where that is None."""
    spec = project.experiment(paper, experiment)
    budget = OWN
    if scale is not None:
        found = project.budget(project.scale(scale), paper, experiment)
        if found is None:
            raise PfedrlError(f"workflow/scales/{scale}.yaml gives {paper}/{experiment} no budget.")
        check_budget(project, paper, experiment, scale)
        budget = found
    where = project.place(paper, experiment)
    classes = {
        variant: load_runnable(given.get("algorithm", variant), f"{where}.variants.{variant}")
        for variant, given in spec.variants.items()
    }
    settings = {name for made in classes.values() for name in made.model_fields}
    check_sweep(spec, settings, where)
    for name in spec.settings:
        if name not in settings:
            raise unknown("setting of the variants", name, settings, f"{where}.settings")
    names: set[str] = set()
    for variant, given in spec.variants.items():
        fields = classes[variant].model_fields
        common = {key: value for key, value in spec.settings.items() if key in fields}
        own = common | {key: value for key, value in given.items() if key != "algorithm"}
        shortened = {key: value for key, value in budget.algorithm.items() if key in fields}
        shortened |= budget.variants.get(variant, {})
        keys: set[str] = set()
        for swept, of_family in _points(spec, fields):
            runnable = validate(
                classes[variant], own | shortened | swept, f"{where}.variants.{variant}"
            )
            family_name, family = "", None
            if spec.family is not None:
                family_name, family = _family(project, spec.family, of_family, budget, where)
            sweep = swept | of_family
            cell = Cell(
                paper, experiment,
                "_".join([variant, *(f"{key}={value:g}" for key, value in sweep.items())]),
                variant, runnable_name(given.get("algorithm", variant)), sweep, runnable, family,
                family_name,
                spec.curve_points, budget, data_digest(project, family),
            )  # fmt: skip
            if cell.name in names or cell.key in keys:
                raise PfedrlError(
                    f"{where}: the cell '{cell.name}' is defined twice. Points of a sweep must "
                    "differ in their first six digits, and no variant may have the name of another "
                    "variant's cell."
                )
            names.add(cell.name)
            keys.add(cell.key)
            yield cell


def _points(spec: Experiment, fields: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The points of the sweep that differ to a variant: its own settings, and the family's.

    A control without a swept key is the same along that key, and runs once.
    """
    split = {key: tuple(key.split(".")) for key in spec.sweep}
    reach = [key for key, (of, name) in split.items() if of == "family" or name in fields]
    for values in itertools.product(*(spec.sweep[key] for key in reach)):
        point = dict(zip(reach, values, strict=True))
        yield (
            {split[key][1]: value for key, value in point.items() if split[key][0] == "algorithm"},
            {split[key][1]: value for key, value in point.items() if split[key][0] == "family"},
        )


def _family(
    project: Project, given: dict[str, Any], swept: dict[str, Any], budget: Budget, where: str
) -> tuple[str, Family]:
    """The family at a point of the sweep: its file, what the experiment says, the budget."""
    if "name" not in given:
        raise PfedrlError(f"{where}.family: the key 'name' is missing.")
    name = named("envs", given["name"], f"{where}.family")
    family_class = load("envs", name)
    own = {key: value for key, value in given.items() if key != "name"}
    if "attack" in own:
        family_class = attacked(family_class)
    shortened = {k: v for k, v in budget.family.items() if k in family_class.model_fields}
    values = project.family_defaults(name) | own | shortened | swept
    return name, validate(family_class, values, f"{where}.family")


def data_digest(project: Project, family: Family | None) -> str | None:
    """The digest that a family's data must have, or have here where none is prescribed."""
    name = getattr(family, "data", None)
    if name not in FACTS:
        return None
    if (expected := project.data_digest(name)) is not None:
        return expected
    return arrays_digest(name) if path_of(name).exists() else None


def find_cell(project: Project, paper: str, experiment: str, name: str, scale: str) -> Cell:
    """A cell by its name."""
    found = {cell.name: cell for cell in cells(project, paper, experiment, scale)}
    if name not in found:
        raise unknown("cell", name, found, where=f"{paper}/{experiment}")
    return found[name]


def changed(cell: Cell, own: Cell) -> Iterator[tuple[str, Any, Any, bool]]:
    """The settings that differ between two cells: name, both values, and whether it is a count."""
    for ours, theirs in ((cell.runnable, own.runnable), (cell.family, own.family)):
        if ours is None or theirs is None:
            continue
        for name, known in type(ours).model_fields.items():
            if getattr(ours, name) != getattr(theirs, name):
                yield name, getattr(ours, name), getattr(theirs, name), known.annotation is int


def draws_path(cell: Cell, block: str) -> Path:
    return Path("results", "envs", cell.draws_name(), f"{block}.npz")
