"""What drawings of the DePRL paper's kinds may be told: accuracies by pi, by workers, by tau."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from pfedrl.core.settings import Settings
from pfedrl.pipeline.options import Named, Options


class Group(Settings):
    """Columns of a table: the same algorithms on a graph."""

    title: str
    variants: list[str] = Field(min_length=1, description="in the order of the rows")


class AccuracyTable(Options):
    """Accuracies, a section a data set and a row a pi and algorithm."""

    groups: list[Group] = Field(min_length=1)
    controls: list[str] = Field(
        default_factory=list, description="variants without a graph, the same in all groups"
    )
    metrics: dict[str, str] = Field(
        min_length=1,
        description="a heading to its metric; {pi} in it is the row's. The first is the printed",
    )
    pi: list[float] = Field(min_length=1, description="the rows")
    trained_at: float | None = Field(None, description="pi of the runs, where it is not the row's")

    def named(self) -> Iterator[Named]:
        for variant in (*self.controls, *(v for group in self.groups for v in group.variants)):
            yield Named("groups or controls", variant=variant)
        for title, metric in self.metrics.items():
            for pi in self.pi:
                yield Named(f"metrics.{title}", metric=metric.format(pi=f"{pi:g}"))


class Timed(Settings):
    """How long something takes: ours in steps, the paper's in seconds."""

    metric: str
    reached: str | None = Field(None, description="the metric that is 0 where it was not reached")
    printed: dict[str, dict[str, list[float]]] = Field(
        default_factory=dict, description="experiment to variant to the paper's, a point each"
    )


class ScalingTable(Options):
    """What the number of workers changes, a section a data set."""

    variants: list[str] = Field(min_length=1)
    along: str
    points: list[float] = Field(min_length=1, description="of the sweep, as the paper has them")
    metric: str = Field(description="the accuracy that is printed beside ours")
    times: dict[str, Timed] = Field(description="a heading to a time")

    def named(self) -> Iterator[Named]:
        for variant in self.variants:
            yield Named("variants", variant=variant)
        yield Named("metric", metric=self.metric)
        for title, timed in self.times.items():
            for metric in filter(None, (timed.metric, timed.reached)):
                yield Named(f"times.{title}", metric=metric)


class SweepPanel(Settings):
    """A panel: a metric of an experiment's variants along its sweep."""

    title: str
    experiment: str
    metric: str
    y: str


class SweepPanels(Options):
    """Final values along a sweep."""

    panels: list[SweepPanel] = Field(min_length=1)
    variants: list[str] = Field(
        default_factory=list, description="all that the sweep touches, where none are listed"
    )
    along: str
    logarithmic: bool = Field(False, description="the vertical axis; means are geometric then")
    x: str
    shows: Literal["values", "speedups"] = Field(
        "values", description="speedups: how many times lower than at the sweep's first point"
    )

    def named(self) -> Iterator[Named]:
        for number, panel in enumerate(self.panels):
            yield Named(f"panels.{number}", panel.experiment, metric=panel.metric)
            for variant in self.variants:
                yield Named(f"panels.{number}", panel.experiment, variant=variant)
