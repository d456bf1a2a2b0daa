"""What is named in one file against what it must fit in another, before anything runs."""

from collections.abc import Iterable
from typing import Any

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import load, load_runnable
from pfedrl.pipeline.paper import Experiment
from pfedrl.pipeline.project import Project


def check_sweep(spec: Experiment, settings: Iterable[str], where: str) -> None:
    """A swept key is a setting of the family, or of at least one variant."""
    for key in spec.sweep:
        of, name = key.split(".")
        if of == "family" and spec.family is None:
            raise PfedrlError(f"{where}.sweep: '{key}' is swept, but there is no family.")
        if of == "algorithm" and name not in settings:
            raise unknown("setting of the variants", name, settings, f"{where}.sweep")


def check_budget(project: Project, paper: str, experiment: str, scale: str) -> None:
    """Every key of a budget shortens something that it serves, and nothing that is swept."""
    budgets = project.scale(scale).papers[paper]
    name = experiment if experiment in budgets else "default"
    served = [experiment]
    if name == "default":
        served += [key for key in project.paper(paper).experiments if key not in budgets]
    for of, keys in (("algorithm", budgets[name].algorithm), ("family", budgets[name].family)):
        where = f"workflow/scales/{scale}.yaml, papers.{paper}.{name}.{of}"
        for key in keys:
            if f"{of}.{key}" in project.experiment(paper, experiment).sweep:
                raise PfedrlError(f"{where}: '{key}' is swept by {paper}/{experiment}.")
            # the experiment itself comes first, and mostly settles it
            if not any(key in _settings(project, paper, one, of) for one in served):
                known = {found for one in served for found in _settings(project, paper, one, of)}
                raise unknown("variant's setting" if of == "algorithm" else "family's setting",
                              key, known, where)  # fmt: skip

    for variant, own in budgets[name].variants.items():
        where = f"workflow/scales/{scale}.yaml, papers.{paper}.{name}.variants"
        specs = [project.experiment(paper, one) for one in served]
        found = [spec.variants[variant] for spec in specs if variant in spec.variants]
        if not found:
            raise unknown("variant", variant, {v for spec in specs for v in spec.variants}, where)
        fields = load_runnable(found[0].get("algorithm", variant), where).model_fields
        for key in own:
            if key not in fields:
                raise unknown("variant's setting", key, fields, f"{where}.{variant}")


def _settings(project: Project, paper: str, experiment: str, of: str) -> set[str]:
    """The settings of an experiment's variants, or of its family."""
    spec = project.experiment(paper, experiment)
    where = project.place(paper, experiment)
    made: list[Any] = []
    if of == "algorithm":
        made = [
            load_runnable(given.get("algorithm", variant), f"{where}.variants.{variant}")
            for variant, given in spec.variants.items()
        ]
    elif spec.family is not None:
        made = [load("envs", spec.family.get("name", ""), f"{where}.family")]
    return {name for one in made for name in one.model_fields}
