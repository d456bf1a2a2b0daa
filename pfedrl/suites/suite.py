"""A suite: tasks on which every algorithm is run alike. What shapes a score in a released suite is
never edited: it would be another version. Algorithms may be added."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from pfedrl.core.errors import unknown
from pfedrl.core.registry import runnable_name
from pfedrl.core.settings import Name, Settings, read_yaml, validate
from pfedrl.pipeline.cells import Cell, resolved
from pfedrl.pipeline.paper import Experiment
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Budget

FOLDER = Path("workflow", "suites")


class Task(Experiment):
    """Algorithms on one family of environments, and what scores them."""

    block: int = Field(gt=0, description="seeds a job")
    score: str = Field(description="the metric that is scored")
    newcomers: str | None = Field(None, description="the metric in environments that are new")
    floor: list[Name] = Field(min_length=1, description="controls that learn nothing")
    ceiling: float | Name = Field(description="the control that scores 1, or a number that does")
    spread: float | None = Field(None, description="how far apart its environments are")

    @model_validator(mode="after")
    def controls_are_variants(self) -> "Task":
        for name in self.controls:
            if name not in self.variants:
                raise ValueError(f"the control '{name}' is not one of its variants")
        return self

    @property
    def controls(self) -> set[str]:
        return {*self.floor, *([self.ceiling] if isinstance(self.ceiling, str) else [])}


class Suite(Settings):
    """One file in workflow/suites."""

    suite: str
    version: int = Field(ge=1)
    title: str
    description: str = Field(description="what it asks, in one or two sentences")
    seeds: int = Field(gt=0, description="seeds 0 to seeds-1 are scored")
    alone: Name = Field(description="the variant that learns alone")
    central: Name | None = Field(None, description="the one that learns from everybody's data")
    spread: str = Field("", description="what tells its tasks, or points of a sweep, apart")
    readings: dict[Name, list[Name]] = Field(
        default_factory=dict, description="variants that read what a variant's paper leaves open"
    )
    trials: dict[Name, int] = Field(
        default_factory=dict, description="settings that were tried, of variants that were tuned"
    )
    tasks: dict[Name, Task] = Field(min_length=1)

    @model_validator(mode="after")
    def named_variants_are_there(self) -> "Suite":
        named = [self.alone, *filter(None, [self.central]), *self.readings, *self.trials]
        named += chain.from_iterable(self.readings.values())
        for name, task in self.tasks.items():
            for variant in named:
                if variant not in task.variants:
                    raise ValueError(f"tasks.{name}: the variant '{variant}' is missing")
        return self

    @property
    def name(self) -> str:
        return f"{self.suite}-{self.version}"

    @property
    def variants(self) -> list[str]:
        """The variants that every task has, in the order of the first."""
        first, *others = self.tasks.values()
        return [name for name in first.variants if all(name in one.variants for one in others)]

    @property
    def controls(self) -> set[str]:
        return set().union(*(task.controls for task in self.tasks.values()))

    def contents(self) -> str:
        """A digest of what shapes scores: all but the algorithms that compete, and the words."""
        words = {"title", "description", "labels"}
        tasks = {}
        for name, task in self.tasks.items():
            kept = {self.alone, *task.controls}
            tasks[name] = task.model_dump(mode="json", exclude=words | {"variants"}) | {
                "variants": {key: given for key, given in task.variants.items() if key in kept}
            }
        known = {"seeds": self.seeds, "alone": self.alone, "tasks": tasks}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:12]

    def with_algorithm(self, given: str, settings: Mapping[str, Any]) -> tuple[str, "Suite"]:
        """The suite with one more algorithm, given by a name or a file; and the variant's name.

        It is run with the settings that a task gives all of its variants, as far as it has them,
        and with those given. A variant of the suite is itself.
        """
        if given in self.variants and not settings:
            return given, self
        said = [f"{key}={value}" for key, value in settings.items()]
        variant = "_".join([runnable_name(given).replace("/", "."), *said])
        added = {"algorithm": given, **settings}
        return variant, self.with_variant(variant, dict.fromkeys(self.tasks, added))

    def with_variant(self, variant: str, given: Mapping[str, dict[str, Any]]) -> "Suite":
        """The suite with one more variant, given for each task."""
        tasks = {
            name: task.model_copy(update={"variants": task.variants | {variant: given[name]}})
            for name, task in self.tasks.items()
        }
        return self.model_copy(update={"tasks": tasks})


def suites(project: Project) -> list[str]:
    return sorted(path.stem for path in (project.root / FOLDER).glob("*.yaml"))


def read_suite(project: Project, name: str) -> Suite:
    """A suite by its name."""
    if name not in suites(project):
        raise unknown("suite", name, suites(project))
    path = FOLDER / f"{name}.yaml"
    return validate(Suite, read_yaml(project.root / path), str(path))


def cells_of(project: Project, suite: Suite, only: str | None = None) -> Iterator[Cell]:
    """The cells of all tasks: of every variant, or of one."""
    for name, task in suite.tasks.items():
        budget = Budget(seeds=suite.seeds, block=task.block)
        where = f"{FOLDER}/{suite.suite}.yaml, tasks.{name}"
        for cell in resolved(project, suite.name, name, task, budget, where):
            if only in (None, cell.variant):
                yield cell
