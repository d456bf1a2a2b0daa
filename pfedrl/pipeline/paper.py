"""A paper's page: its experiments, tables and figures, printed numbers, claims, fidelity notes."""

import math
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings
from pfedrl.pipeline.drawings import Comparison

Number = float | int


class Experiment(Settings):
    """Variants of algorithms on one environment family, over a sweep."""

    title: str = Field(description="what is compared, in a few words")
    family: dict[str, Any] | None = Field(
        None, description="the family's name, and what differs from its file in envs/"
    )
    sweep: dict[str, list[Number]] = Field(
        default_factory=dict,
        description="family.<key> or algorithm.<key> to the values it takes; all combinations run",
    )
    variants: dict[Name, dict[str, Any]] = Field(
        description="name to settings; the name is the algorithm's unless the key 'algorithm' says"
    )
    curve_points: int = Field(
        0, ge=0, description="points of the learning curve kept a seed; 0 keeps the last only"
    )

    comparison: Comparison = Field(
        default_factory=Comparison, description="how its variants are set beside each other"
    )

    @model_validator(mode="after")
    def sweeps_are_addressed(self) -> "Experiment":
        for key in self.sweep:
            if key.split(".")[0] not in ("family", "algorithm") or key.count(".") != 1:
                raise ValueError(f"sweep key '{key}' must be family.<key> or algorithm.<key>")
        return self


class Printed(Settings):
    """A number of the paper that ours is compared with: a row of printed/<artifact>.csv."""

    experiment: str
    variant: str
    metric: str
    along: str | None = Field(None, description="the sweep key of which `at` is a value")
    at: Number | None = Field(None, description="the sweep's value")
    value: Decimal = Field(description="with the digits that are printed")
    error: Decimal | None = Field(
        None, description="its standard error; none where none is printed"
    )

    @model_validator(mode="after")
    def a_point_has_a_key(self) -> "Printed":
        if (self.along is None) != (self.at is None):
            raise ValueError("'along' and 'at' are given together or not at all")
        return self

    @property
    def half_unit(self) -> float:
        """Half of the last printed digit, which is what rounding may hide."""
        return 0.5 * 10.0 ** int(self.value.as_tuple().exponent)


# the files that an artifact becomes; the second is what a reader opens
SUFFIXES = {
    "table": ("csv", "md", "tex", "json"),
    "figure": ("pdf", "png", "csv", "json"),
    "comparison": ("csv", "md", "pdf", "png", "json"),
}


class Artifact(Settings):
    """A table or a figure: which module draws it, from which experiments."""

    kind: Literal["table", "figure", "comparison"]
    title: str
    draw: str = Field(description="the module in pfedrl/analysis/figures that draws it")
    experiments: list[str]
    caption: str = Field(description="one or two sentences under it")
    printed: list[Printed] = Field(
        default_factory=list, description="read from printed/<artifact>.csv"
    )
    options: dict[str, Any] = Field(default_factory=dict, description="passed to the module")


def comparison_of(name: str, experiment: Experiment) -> Artifact | None:
    """What an experiment has without being asked, if there is anything to compare."""
    swept = [values for key, values in experiment.sweep.items() if key.startswith("algorithm.")]
    cells = len(experiment.variants) * math.prod(len(values) for values in swept)
    if experiment.family is None or cells < 2:
        return None
    return Artifact(
        kind="comparison",
        title=f"{experiment.title}: every variant",
        draw="comparison",
        experiments=[name],
        caption=(
            "Final values of every variant that ran, and differences on the same seeds to the "
            "best and to the baseline. In the figure a dot a seed, the mean and its 95% interval."
        ),
        options=experiment.comparison.model_dump(),
    )


class Monotone(Settings):
    """A variant's metric falls (or rises) along a sweep.

    It holds where the last point lies below (above) the first and no step goes the other way;
    steps that change nothing are allowed, as in the papers' own tables.
    """

    kind: Literal["monotone"]
    experiment: str
    variant: str
    metric: str
    along: str
    direction: Literal["falls", "rises"]
    points: list[Number] = Field(default_factory=list, description="of the sweep; all if empty")


class Greater(Settings):
    """One cell's metric exceeds another's (or a multiple of it) on the same seeds, by a margin."""

    kind: Literal["greater"]
    experiment: str
    metric: str
    greater: str = Field(description="cell expected to be larger")
    smaller: str = Field(description="cell expected to be smaller")
    greater_metric: str | None = Field(None, description="where it is not the same metric")
    factor: float = Field(1.0, gt=0, description="of the smaller: 2 where the paper says twice")
    margin: float = 0.0


class Equivalent(Settings):
    """All the cells' metrics are equal up to the margin, on the same seeds."""

    kind: Literal["equivalent"]
    experiment: str
    metric: str
    cells: list[str]
    margin: float = Field(gt=0)


class Near(Settings):
    """A cell's mean metric lies within the margin of a number that theory gives, or beyond it."""

    kind: Literal["near"]
    experiment: str
    cell: str
    metric: str
    value: float
    margin: float = Field(gt=0)
    side: Literal["both", "below"] = Field(
        "both", description="below: a mean under the number is as good, as for rates of decay"
    )


class Slope(Settings):
    """A metric is a power of a sweep's value: the exponent lies within the margin of a number.

    Each seed has an exponent, the least-squares slope of log metric on log value.
    """

    kind: Literal["slope"]
    experiment: str
    variant: str
    metric: str
    along: str
    value: float = Field(description="the exponent that the paper gives")
    margin: float = Field(gt=0)
    reached: str | None = Field(
        None, description="a metric that is 0 where the other is only a lower bound"
    )


class Ordered(Settings):
    """The cells' metrics stand in the paper's order, every pair of them, on the same seeds."""

    kind: Literal["ordered"]
    experiment: str
    metric: str
    cells: list[str] = Field(min_length=2, description="highest first, as the paper has them")


class InteriorBest(Settings):
    """The paper's best point of a sweep beats both of its ends."""

    kind: Literal["interior_best"]
    experiment: str
    variant: str
    metric: str
    along: str
    best: Number = Field(description="the best point by the paper, not by our data")
    ends: tuple[Number, Number]


class Agrees(Settings):
    """Ours and the printed numbers of a table differ by at most so many standard errors."""

    kind: Literal["agrees"]
    artifact: str
    within: float = Field(3.0, gt=0, description="combined standard errors")


class Holds(Settings):
    """A statement of the theory holds on every instance that was drawn."""

    kind: Literal["holds"]
    experiment: str
    variant: str
    metric: str = Field(description="non-negative where the statement holds")
    tolerance: float = Field(1e-9, ge=0, description="rounding allowed below zero")


class Exists(Settings):
    """An instance with a positive metric exists among those that were drawn."""

    kind: Literal["exists"]
    experiment: str
    variant: str
    metric: str
    tolerance: float = Field(1e-9, ge=0)


Test = Annotated[
    Monotone
    | Greater
    | Equivalent
    | Near
    | Slope
    | Ordered
    | InteriorBest
    | Agrees
    | Holds
    | Exists,
    Field(discriminator="kind"),
]


class Claim(Settings):
    """Something the paper says, and how it is tested."""

    id: Name
    words: str = Field(description="the paper's words, in brief")
    where: str = Field(description="where they stand in the paper")
    test: Test


class FidelityNote(Settings):
    """Where paper and code differ, or the paper is silent: what we do, and why."""

    id: Name
    paper: str
    code: str = ""
    ours: str
    switch: str = Field("", description="the setting that changes it, if one does")


class Reference(Settings):
    """paper.yaml."""

    title: str
    reference: str
    theory: str | None = Field(None, description="the folder that runs and judges its theory")


class Paper(Reference):
    """A folder in workflow/papers: paper.yaml, and a file for each of the rest."""

    paper: str = Field(description="the folder's name")
    experiments: dict[str, Experiment]
    artifacts: dict[str, Artifact] = Field(default_factory=dict)
    claims: list[Claim] = Field(default_factory=list)
    fidelity: list[FidelityNote] = Field(default_factory=list)
