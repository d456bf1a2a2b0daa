"""What a drawing may be told: a model of options for each module in analysis/figures.

The models stand here, and not in those modules, so that a page is checked without importing
matplotlib. A module that is not listed takes no options.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pfedrl.core.errors import unknown
from pfedrl.core.settings import Settings, validate
from pfedrl.pipeline.claim import Ceiling
from pfedrl.pipeline.data_drawings import AccuracyTable, ScalingTable, SweepPanels
from pfedrl.pipeline.options import Named, Options

if TYPE_CHECKING:
    from pfedrl.pipeline.cells import Cell
    from pfedrl.pipeline.paper import Artifact


LONG_RUN = "long run, best"  # what reaches a ceiling that another experiment sets
SHOWN = 200  # seeds at most that a comparison draws one by one


class Comparison(Options):
    """Every variant of an experiment beside the others."""

    metric: str | None = Field(
        None, description="final values that are compared; chosen by itself where it is left out"
    )
    best: Literal["highest", "lowest"] = "highest"
    baseline: str | None = Field(
        None, description="the variant that others are compared with; else the first that learns"
    )

    ceiling: Ceiling | None = Field(None, description="of another experiment, beside them")

    @model_validator(mode="after")
    def a_ceiling_is_found(self) -> "Comparison":
        if self.ceiling and not (self.ceiling.experiment and self.ceiling.metric):
            raise ValueError("'ceiling' needs an experiment and a metric here")
        return self

    def named(self) -> Iterator[Named]:
        yield Named("comparison", variant=self.baseline, metric=self.metric)
        if (top := self.ceiling) is not None:
            yield Named("comparison.ceiling", top.experiment, top.cell, metric=top.metric)


class CurveLine(Settings):
    """A line of a panel. Where one algorithm has several, they are shades of its colour."""

    cell: str
    metric: str | None = Field(None, description="the panel's, where it is left out")
    experiment: str | None = Field(None, description="the panel's, where it is left out")
    label: str | None = Field(
        None, description="the variant's, where it is left out; {local_steps} is that setting"
    )
    ceiling: bool = Field(False, description="its last value, as a level across the panel")


class CurvePanel(Settings):
    """A panel of learning curves."""

    title: str
    experiment: str | None = Field(None, description="the artifact's first, where it is left out")
    metric: str | None = Field(None, description="of lines that have none of their own")
    lines: list[CurveLine] = Field(
        default_factory=list, description="the figure's, where none are given"
    )
    agent: int | None = Field(None, ge=0, description="agents are pooled where it is left out")
    until: float | None = Field(None, gt=0, description="where the horizontal axis ends")
    limits: tuple[float, float] | None = Field(None, description="of the vertical axis")
    mark: float | None = Field(None, description="a dashed level")
    x: str | None = Field(None, description="the axes' names, where they are not the figure's")
    y: str | None = None


class CurvePanels(Options):
    """Learning curves in panels."""

    panels: list[CurvePanel] = Field(min_length=1)
    lines: list[CurveLine] = Field(
        default_factory=list,
        description="of panels without their own; one without the panel's metric is left out there",
    )
    columns: int = Field(2, gt=0)
    band: float | None = Field(None, gt=0, description="standard errors shaded; else the interval")
    intervals: Literal["along", "end"] = Field(
        "along", description="bands along the lines or, where they would cover each other, bars "
        "at the lines' ends"
    )  # fmt: skip
    legend: Literal["figure", "panel"] = "figure"
    x: str = "episode"
    y: str = "return"

    @model_validator(mode="after")
    def every_line_has_a_metric(self) -> "CurvePanels":
        for number, panel in enumerate(self.panels):
            for line in panel.lines or self.lines:
                if panel.metric is None and line.metric is None:
                    raise ValueError(f"panels.{number}: '{line.cell}' has no metric")
            if not (panel.lines or self.lines):
                raise ValueError(f"panels.{number} has no lines")
        return self

    def named(self) -> Iterator[Named]:
        for number, panel in enumerate(self.panels):
            key = f"panels.{number}"
            for line in panel.lines or self.lines:
                experiment = line.experiment or panel.experiment
                strict = line.metric or (panel.metric if panel.lines else None)
                yield Named(key, experiment, cell=line.cell, metric=strict)
            if not panel.lines:  # of the figure's lines some may lack the metric, but not all
                yield Named(key, self.lines[0].experiment or panel.experiment, metric=panel.metric)


class ControlTable(Options):
    """Statistics of training; variants that are not listed follow those that are."""

    variants: list[str] = Field(default_factory=list, description="the first rows, in order")
    floor: str
    ceiling: str
    printed_seconds: dict[str, float] = Field(default_factory=dict)

    def named(self) -> Iterator[Named]:
        yield Named("floor", variant=self.floor)
        yield Named("ceiling", variant=self.ceiling)
        for variant in (*self.variants, *self.printed_seconds):
            yield Named("variants or printed_seconds", variant=variant)


class CommunicationTable(Options):
    """Rounds to a target."""

    cells: list[str]
    paper: dict[str, float] = Field(default_factory=dict, description="a cell to its rounds")

    def named(self) -> Iterator[Named]:
        for cell in self.cells:
            yield Named("cells", cell=cell, metric="rounds_to_target")
        for cell in self.paper:
            yield Named("paper", cell=cell)


class Driving(Options):
    """Traffic in time and space."""

    cells: list[str]
    second: float = Field(ge=0, description="of the view from above")

    def named(self) -> Iterator[Named]:
        for cell in self.cells:
            yield Named("cells", cell=cell)


class SimilarityMaps(Options):
    """Cosines between agents, a row of maps for each experiment."""

    variant: str
    who: str = Field("agent", description="what the paper calls one")
    point: dict[str, float] = Field(
        default_factory=dict, description="of the sweep, by the names of its columns"
    )
    maps: dict[str, str] = Field(
        default_factory=lambda: {
            "transition": "transitions", "head": "private heads", "body": "representation"
        },
        description="what is compared, as in <what>_similarity_<agent>, to its title",
    )  # fmt: skip
    printed: dict[Literal["transition", "head", "body"], list[list[float]]] = Field(
        default_factory=dict, description="the paper's maps, agent 1 first"
    )

    def named(self) -> Iterator[Named]:
        yield Named("variant", variant=self.variant)


class Mark(Settings):
    """A level of performance."""

    metric: str = Field(description="what is fewer when faster")
    reached: str = Field(description="the metric that is 0 where the mark was never reached")
    label: str


class Speedup(Options):
    """Training time over the number of agents."""

    variant: str
    along: str = Field(description="the sweep's key: the number of agents")
    marks: list[Mark] = Field(min_length=1, max_length=2)

    def named(self) -> Iterator[Named]:
        yield Named("variant", variant=self.variant)
        for number, mark in enumerate(self.marks):
            for metric in (mark.metric, mark.reached):
                yield Named(f"marks.{number}", metric=metric)


class Switch(Settings):
    """The code's choice and the other: an experiment and a cell each."""

    words: str
    code: tuple[str, str]
    switched: tuple[str, str]


class Switches(Options):
    """What choices change."""

    switches: list[Switch]

    def named(self) -> Iterator[Named]:
        for number, switch in enumerate(self.switches):
            for experiment, cell in (switch.code, switch.switched):
                yield Named(f"switches.{number}", experiment, cell=cell)


class TheoryAudit(Options):
    """Statements with verdicts."""

    groups: dict[str, str] = Field(description="an experiment to its heading")
    tightness: dict[str, str] = Field(description="a claim to the metric that says how tight it is")

    def named(self) -> Iterator[Named]:
        for experiment in self.groups:
            yield Named("groups", experiment)


class TheorySlopes(Options):
    """What the figure of slopes draws, and in which words."""

    labels: dict[str, str] = Field(description="the variants that are drawn, with their words")

    def named(self) -> Iterator[Named]:
        for variant in self.labels:
            yield Named("labels", variant=variant)


class Tradeoff(Options):
    """Computation against error."""

    metric: str
    along: str = Field(description="the sweep's key: the number of agents")
    serial: str = Field(description="the variant whose agents are counted one after another")

    def named(self) -> Iterator[Named]:
        yield Named("metric", metric=self.metric)
        yield Named("serial", variant=self.serial)


OPTIONS: dict[str, type[Options]] = {
    "accuracy_table": AccuracyTable,
    "comparison": Comparison,
    "control_table": ControlTable,
    "curve_panels": CurvePanels,
    "fedkl_communication": CommunicationTable,
    "fedkl_driving": Driving,
    "readings_figure": Comparison,
    "scaling_table": ScalingTable,
    "similarity_figure": SimilarityMaps,
    "speedup_figure": Speedup,
    "sweep_panels": SweepPanels,
    "switches_table": Switches,
    "theory_audit": TheoryAudit,
    "theory_slopes": TheorySlopes,
    "tradeoff_figure": Tradeoff,
}


def options_of(artifact: "Artifact", where: str = "") -> Options:
    """An artifact's options, checked against its drawing's model."""
    return validate(OPTIONS.get(artifact.draw, Options), artifact.options, where)


def check_named(
    artifact: "Artifact",
    cells: Mapping[str, Mapping[str, "Cell"]],
    where: str,
) -> None:
    """What an artifact's options name is among its experiments' cells (by experiment and name),
    and what these will record."""
    for named in options_of(artifact, where).named():
        place = f"{where}, {named.key}"
        experiment = named.experiment or artifact.experiments[0]
        if experiment not in artifact.experiments:
            raise unknown("experiment of the artifact", experiment, artifact.experiments, place)
        own = cells[experiment]
        variants = {cell.variant for cell in own.values()}
        if named.cell is not None and named.cell not in own:
            raise unknown("cell", named.cell, own, place)
        if named.variant is not None and named.variant not in variants:
            raise unknown("variant", named.variant, variants, place)
        if named.metric is not None:
            asked = list(own.values()) if named.cell is None else [own[named.cell]]
            recorded = set().union(*(cell.runnable.metrics(cell.family) for cell in asked))
            if named.metric not in recorded:
                raise unknown("metric", named.metric, recorded, place)
