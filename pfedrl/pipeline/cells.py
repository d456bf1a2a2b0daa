"""Cells: the variants of an experiment at each point of its sweep, with all settings checked."""

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
        """Why the algorithm cannot run on the family, whatever data are here, or None."""
        skip = getattr(self.runnable, "skip", None)
        return None if skip is None or self.family is None else skip(self.family)

    def why_not(self) -> str | None:
        """Why the cell cannot run here, or None."""
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
    spec, where = project.experiment(paper, experiment), project.place(paper, experiment)
    budget = OWN if scale is None else _budget(project, paper, experiment, scale)
    return resolved(project, paper, experiment, spec, budget, where)


def resolved(
    project: Project, paper: str, experiment: str, spec: Experiment, budget: Budget, where: str
) -> Iterator[Cell]:
    """The cells of an experiment that is declared somewhere, with a budget."""
    classes = _classes(spec, where)
    settings = {name for made in classes.values() for name in made.model_fields}
    for key in spec.sweep:
        of, name = key.split(".")
        if of == "family" and spec.family is None:
            raise PfedrlError(f"{where}.sweep: '{key}' is swept, but there is no family.")
        if of == "algorithm" and name not in settings:
            raise unknown("setting of the variants", name, settings, f"{where}.sweep")
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
            family = None
            if spec.family is not None:
                family = _family(project, spec.family, of_family, budget, where)
            sweep = swept | of_family
            cell = Cell(
                paper, experiment,
                "_".join([variant, *(f"{key}={value:g}" for key, value in sweep.items())]),
                variant, runnable_name(given.get("algorithm", variant)), sweep, runnable, family,
                "" if family is None else named("envs", (spec.family or {})["name"]),
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


def _classes(spec: Experiment, where: str) -> dict[str, Any]:
    """The algorithm or statement of each variant."""
    return {
        variant: load_runnable(given.get("algorithm", variant), f"{where}.variants.{variant}")
        for variant, given in spec.variants.items()
    }


def _budget(project: Project, paper: str, experiment: str, scale: str) -> Budget:
    """An experiment's budget, each key of which must shorten something that it serves."""
    budget = project.budget(project.scale(scale), paper, experiment)
    if budget is None:
        raise PfedrlError(f"workflow/scales/{scale}.yaml gives {paper}/{experiment} no budget.")
    budgets, served = project.scale(scale).papers[paper], [experiment]
    name = experiment if experiment in budgets else "default"
    if name == "default":
        served += [key for key in project.paper(paper).experiments if key not in budgets]
    where = f"workflow/scales/{scale}.yaml, papers.{paper}.{name}"

    def classes(one: str) -> dict[str, Any]:
        return _classes(project.experiment(paper, one), project.place(paper, one))

    def settings(of: str, one: str) -> set[str]:
        made = list(classes(one).values())
        if of == "family":
            family = project.experiment(paper, one).family
            place = project.place(paper, one)
            made = [] if family is None else [_family_class(family, place)]
        return {name for one in made for name in one.model_fields}

    for of, kind, keys in (("algorithm", "variant's setting", budget.algorithm),
                           ("family", "family's setting", budget.family)):  # fmt: skip
        for key in keys:
            if f"{of}.{key}" in project.experiment(paper, experiment).sweep:
                raise PfedrlError(f"{where}.{of}: '{key}' is swept by {paper}/{experiment}.")
            # the experiment itself comes first, and mostly settles it
            if not any(key in settings(of, one) for one in served):
                known = set().union(*(settings(of, one) for one in served))
                raise unknown(kind, key, known, f"{where}.{of}")
    for variant, own in budget.variants.items():
        found = {n: c for one in served for n, c in classes(one).items()}
        if variant not in found:
            raise unknown("variant", variant, found, f"{where}.variants")
        for key in own.keys() - found[variant].model_fields.keys():
            raise unknown("variant's setting", key, found[variant].model_fields,
                          f"{where}.variants.{variant}")  # fmt: skip
    return budget


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


def _family_class(given: dict[str, Any], where: str) -> Any:
    if "name" not in given:
        raise PfedrlError(f"{where}.family: the key 'name' is missing.")
    made = load("envs", given["name"], f"{where}.family")
    return attacked(made) if "attack" in given else made


def _family(
    project: Project, given: dict[str, Any], swept: dict[str, Any], budget: Budget, where: str
) -> Family:
    """The family at a point of the sweep: its file, the experiment's own settings, the budget."""
    made = _family_class(given, where)
    own = {key: value for key, value in given.items() if key != "name"}
    shortened = {key: value for key, value in budget.family.items() if key in made.model_fields}
    defaults = project.family_defaults(named("envs", given["name"]))
    return validate(made, defaults | own | shortened | swept, f"{where}.family")


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
