"""Readings of what a paper leaves open, under which its claims are judged as well."""

from typing import Any

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings
from pfedrl.pipeline.claim import Floor, Test


class Reading(Settings):
    """One way to read what the paper leaves open: other settings, or another look at the same."""

    id: Name
    words: str = Field(description="what is read otherwise, in a few words")
    experiments: list[str] = Field(
        default_factory=list,
        description="those that run under this reading as well, each as <experiment>_<id>",
    )
    variants: dict[Name, dict[str, Any]] = Field(
        default_factory=dict,
        description="which of the experiments' variants run so, and what each is given otherwise",
    )
    family: dict[str, Any] = Field(
        default_factory=dict, description="what the experiments' environments are given otherwise"
    )
    metrics: dict[str, str] = Field(
        default_factory=dict, description="a metric to the one that is looked at in its place"
    )
    changes: str = Field("", description="how the metrics begin that it can change; all if empty")
    cells: dict[str, str] = Field(
        default_factory=dict, description="a cell to the one that is looked at in its place"
    )

    @model_validator(mode="after")
    def an_experiment_has_variants(self) -> "Reading":
        if bool(self.experiments) != bool(self.variants):
            raise ValueError("'experiments' and 'variants' must be given together")
        if self.family and not self.experiments:
            raise ValueError("'family' needs 'experiments'")
        return self

    def runs(self, experiment: str) -> str:
        """The experiment that runs in the place of another."""
        return f"{experiment}_{self.id}" if experiment in self.experiments else experiment

    @property
    def changed(self) -> list[str]:
        """The variants that run otherwise: with other environments all of them do."""
        return [name for name, given in self.variants.items() if given or self.family]

    def of(self, test: Test) -> Test:
        """The same comparison under this reading."""
        return test.read_as(self.runs(test.experiment), self.metrics, self.cells)

    def floor(self, floor: Floor | None) -> Floor | None:
        """The control, looked at as the comparison is."""
        if floor is None or floor.metric not in self.metrics:
            return floor
        return floor.model_copy(update={"metric": self.metrics[floor.metric]})
