"""A suite: tasks on which every algorithm is run alike. A released suite is never edited; what
would change a score is another version."""

from collections.abc import Iterator, Mapping
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

    seeds: int = Field(gt=0, description="seeds 0 to seeds-1 are scored")
    block: int = Field(gt=0, description="seeds a job")
    score: str = Field(description="the metric that is scored")
    newcomers: str | None = Field(None, description="the metric in environments that are new")
    floor: list[Name] = Field(min_length=1, description="controls that learn nothing")
    ceiling: Name = Field(description="the control that scores 1")

    @model_validator(mode="after")
    def controls_are_variants(self) -> "Task":
        for name in (*self.floor, self.ceiling):
            if name not in self.variants:
                raise ValueError(f"the control '{name}' is not one of its variants")
        return self

    @property
    def controls(self) -> set[str]:
        return {*self.floor, self.ceiling}


class Suite(Settings):
    """One file in workflow/suites."""

    suite: str
    version: int = Field(ge=1)
    title: str
    description: str = Field(description="what it asks, in one or two sentences")
    alone: Name = Field(description="the variant that learns alone")
    tasks: dict[Name, Task] = Field(min_length=1)

    @model_validator(mode="after")
    def all_have_learning_alone(self) -> "Suite":
        for name, task in self.tasks.items():
            if self.alone not in task.variants:
                raise ValueError(f"tasks.{name}: the variant '{self.alone}' is missing")
        return self

    @property
    def name(self) -> str:
        return f"{self.suite}-{self.version}"

    def with_algorithm(self, given: str, settings: Mapping[str, Any]) -> tuple[str, "Suite"]:
        """The suite with one more algorithm, given by a name or a file; and the variant's name.

        It is run with each task's settings, as far as it has them, and with those given. A variant
        of the suite is itself.
        """
        known = {name for task in self.tasks.values() for name in task.variants}
        if given in known and not settings:
            return given, self
        said = [f"{key}={value}" for key, value in settings.items()]
        variant = "_".join([runnable_name(given).replace("/", "."), *said])
        added = {variant: {"algorithm": given, **settings}}
        tasks = {
            name: task.model_copy(update={"variants": task.variants | added})
            for name, task in self.tasks.items()
        }
        return variant, self.model_copy(update={"tasks": tasks})


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
        variants = {key: task.variants[key] for key in task.variants if only in (None, key)}
        spec = task.model_copy(update={"variants": variants})
        budget = Budget(seeds=task.seeds, block=task.block)
        where = f"{FOLDER}/{suite.suite}.yaml, tasks.{name}"
        yield from resolved(project, suite.name, name, spec, budget, where)
