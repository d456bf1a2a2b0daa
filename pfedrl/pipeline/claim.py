"""Claims: sentences of a paper, and the comparisons that decide them."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings

Number = float | int


class Trend(Settings):
    """Where a metric falls or rises, and which way."""

    experiment: str
    metric: str
    along: str
    direction: Literal["falls", "rises"]
    points: list[Number] = Field(default_factory=list, description="of the sweep; all if empty")


class Monotone(Trend):
    """A variant's metric falls (or rises) along a sweep.

    It holds where the last point lies below (above) the first and no step goes the other way;
    steps that change nothing are allowed, as in the papers' own tables.
    """

    kind: Literal["monotone"]
    variant: str


class AllMonotone(Trend):
    """Several variants' metrics fall (or rise) along a sweep: a `monotone` for each."""

    kind: Literal["all_monotone"]
    variants: list[str] = Field(min_length=1)

    def expanded(self) -> Iterator[Monotone]:
        shared = self.model_dump(include=set(Trend.model_fields))
        for variant in self.variants:
            yield Monotone(kind="monotone", variant=variant, **shared)


class Terms(Settings):
    """How the larger and the smaller of two are compared."""

    factor: float = Field(1.0, gt=0, description="of the smaller: 2 where the paper says twice")
    margin: float = 0.0
    scale: Literal["linear", "log"] = Field(
        "linear", description="log: of values that span orders of magnitude, ratios are averaged"
    )
    reached: str | None = Field(
        None, description="for times: a metric that is 0 in runs that ended before they got there"
    )
    ends: str | None = Field(
        None,
        description="for times: the metric, or the axis, that says when a run ended; a time not "
        "below the metric, or beyond the axis, was not reached",
    )
    of_agents: Literal["mean", "worst"] = Field(
        "mean", description="worst: the lowest value of a seed's agents"
    )
    undefined: str = Field(
        "", description="why seeds without a value may be left out; empty: they may not"
    )
    counted: str = Field(
        "", description="why no learning enters, so that it is counted and not tested; empty: it is"
    )


class Greater(Terms):
    """One cell's metric exceeds another's (or a multiple of it) on the same seeds, by a margin."""

    kind: Literal["greater"]
    experiment: str
    metric: str
    greater: str = Field(description="cell expected to be larger")
    smaller: str = Field(description="cell expected to be smaller")
    greater_metric: str | None = Field(None, description="where it is not the same metric")
    since: tuple[str, str] | None = Field(
        None,
        description="for changes: the cells from which the larger and the smaller have changed",
    )
    agent: int | None = Field(None, ge=1, description="one agent's, counted from 1 as papers do")

    @model_validator(mode="after")
    def changes_are_of_plain_values(self) -> "Greater":
        other = (self.greater_metric, self.agent, self.reached, self.ends)
        plain = self.factor == 1 and self.of_agents == "mean" and not any(other)
        if self.since is not None and not plain:
            raise ValueError(
                "'since' cannot be combined with 'factor', 'of_agents', 'greater_metric', 'agent', "
                "'reached' or 'ends'"
            )
        return self


class Ahead(Terms):
    """Variants ahead of others wherever they meet: a `greater` for each pair, metric, agent and
    point."""

    kind: Literal["ahead"]
    experiment: str
    metrics: list[str] = Field(min_length=1)
    best: Literal["highest", "lowest"] = Field(
        "highest", description="lowest: who is ahead has the smaller value, as of times and errors"
    )
    ahead: dict[str, list[str]] = Field(description="a variant to those it is ahead of")
    agents: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=list, description="one by one, as in `greater`; together if empty"
    )
    points: list[str] = Field(
        default_factory=list, description="of the sweep, as cells are named: pi=0.1"
    )

    def expanded(self) -> Iterator[Greater]:
        terms = self.model_dump(include=set(Terms.model_fields))
        pairs = [(first, other) for first, others in self.ahead.items() for other in others]
        agents: list[int | None] = [*self.agents] or [None]
        places = product(self.metrics, agents, self.points or [""])
        for (metric, agent, point), pair in product(places, pairs):
            first, other = ("_".join(filter(None, (name, point))) for name in pair)
            larger, smaller = (first, other) if self.best == "highest" else (other, first)
            yield Greater(kind="greater", experiment=self.experiment, metric=metric, agent=agent,
                          greater=larger, smaller=smaller, **terms)  # fmt: skip


class Equivalent(Settings):
    """All the cells' metrics are equal up to the margin, on the same seeds."""

    kind: Literal["equivalent"]
    experiment: str
    metric: str
    cells: list[str]
    margin: float = Field(gt=0)


class Near(Settings):
    """A cell's mean metric lies within the margin of a number that the paper gives, or beyond."""

    kind: Literal["near"]
    experiment: str
    cell: str
    metric: str
    value: float
    margin: float = Field(ge=0)
    side: Literal["both", "below", "above"] = Field(
        "both", description="below (above): a mean under (over) the number is as good"
    )
    reached: str | None = Field(None, description="as in `greater`")
    ends: str | None = Field(None, description="as in `greater`")
    agent: int | None = Field(None, ge=1, description="as in `greater`")
    counted: str = Field("", description="as in `greater`")


class Share(Settings):
    """A metric that is 0 or 1 is 1 in at least so large a share of the seeds."""

    kind: Literal["share"]
    experiment: str
    cell: str
    metric: str
    at_least: float = Field(gt=0, lt=1)


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
    """The cells' metrics stand in the paper's order: each seed's Kendall tau with it."""

    kind: Literal["ordered"]
    experiment: str
    metric: str
    cells: list[str] = Field(min_length=2, description="highest first, as the paper has them")
    at_least: float = Field(
        0.5, ge=-1, lt=1, description="the mean tau; 0.5 is three pairs in the order of four"
    )


class Best(Settings):
    """A point of a sweep beats every other point."""

    kind: Literal["best"]
    experiment: str
    variant: str
    metric: str
    along: str
    best: Number = Field(description="the best point by the paper, not by our data")
    points: list[Number] = Field(
        default_factory=list, description="the sweep as the paper has it; all of ours if empty"
    )


class Agrees(Settings):
    """Our means and the printed numbers of a table are equal up to a margin."""

    kind: Literal["agrees"]
    artifact: str
    margin: float = Field(0.01, gt=0, description="as a share of the printed number")


class PrintedLeast(Settings):
    """Of the numbers that the paper itself prints, a variant's is the least: no run enters."""

    kind: Literal["printed_least"]
    artifact: str
    option: str = Field(description="of the artifact: the printed numbers by variant")
    least: Name = Field(description="the variant")


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


Comparison = (
    Monotone
    | Greater
    | Equivalent
    | Near
    | Share
    | Slope
    | Ordered
    | Best
    | Agrees
    | PrintedLeast
    | Holds
    | Exists
)
Test = Annotated[Comparison, Field(discriminator="kind")]
Written = Annotated[Comparison | AllMonotone | Ahead, Field(discriminator="kind")]


class Floor(Settings):
    """A control that learns nothing, and who must beat it for an order to count."""

    cell: str
    winner: str | None = Field(None, description="by default the cell that the order puts first")
    metric: str | None = Field(None, description="by default the comparison's")


class Ceiling(Settings):
    """The best that is known: where all reach it there is no order."""

    cell: str
    experiment: str | None = Field(None, description="by default the comparison's own")
    metric: str | None = Field(None, description="by default what the floor is compared by")


class Claim(Settings):
    """A sentence of the paper, and the comparisons that decide it.

    It is reproduced where all of them hold and contradicted where one is clearly reversed.
    """

    id: Name
    words: str = Field(description="the paper's words, in brief")
    where: str = Field(description="where they stand in the paper")
    test: Written | Annotated[list[Written], Field(min_length=1)] = Field(
        description="a comparison, or several that must all hold"
    )
    ours: bool = Field(False, description="the paper does not say it; listed and counted apart")
    note: str = Field(
        "",
        description="to be read beside its verdict, as that its data had been seen before",
    )
    budget_free: str = Field(
        "", description="why a shorter training decides it too; empty: it gives a leaning only"
    )
    floor: Floor | None = Field(None, description="without it an order counts as it stands")
    ceiling: Ceiling | None = None

    @property
    def tests(self) -> list[Test]:
        found: list[Test] = []
        for written in self.test if isinstance(self.test, list) else [self.test]:
            found += written.expanded() if isinstance(written, AllMonotone | Ahead) else [written]
        return found
