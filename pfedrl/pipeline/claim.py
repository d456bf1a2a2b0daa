"""Claims: sentences of a paper, and the tests that decide them.

A test says what it reads (`asks`), so that everything it names is checked before any run, and how
it reads when a paper is read otherwise (`read_as`).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings

Number = float | int
METRICS = ("metric", "second_metric", "reached")  # fields of tests that name a metric
CELLS = ("first", "second", "cell")  # and a cell


class Asked(NamedTuple):
    """A metric that a test reads: of one cell, or of a variant along a sweep."""

    metric: str
    cell: str | None = None
    variant: str | None = None
    along: str | None = None
    at: float | None = None


class OfRuns(Settings):
    """What tests share: the experiment whose runs they read."""

    experiment: str

    @abstractmethod
    def asks(self) -> Iterator[Asked]:
        """What it reads."""

    def names(self) -> set[str]:
        """The cells and variants that it compares."""
        return {asked.cell or asked.variant or "" for asked in self.asks()}

    def read_as(
        self, experiment: str, metrics: Mapping[str, str], cells: Mapping[str, str]
    ) -> Self:
        """The same test of another experiment, with metrics and cells replaced as given."""
        changed: dict[str, Any] = {"experiment": experiment}
        for fields, others in ((METRICS, metrics), (CELLS, cells)):
            for field in fields:
                if (other := others.get(getattr(self, field, "") or "")) is not None:
                    changed[field] = other
        return self.model_copy(update=changed)


class Terms(Settings):
    """How two values of a seed are compared."""

    factor: float = Field(1.0, gt=0, description="of the second: 2 where the paper says twice")
    margin: float = Field(0.0, description="by how much the first must be ahead")
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


class Pair(OfRuns, Terms):
    """One cell ahead of another on the same seeds: what `ahead` is made of."""

    metric: str
    first: str
    second: str
    highest: bool
    second_metric: str | None = None
    changes_from: tuple[str, str] | None = None
    agent: int | None = None

    def asks(self) -> Iterator[Asked]:
        yield Asked(self.metric, self.first)
        yield Asked(self.second_metric or self.metric, self.second)
        for cell in self.changes_from or ():
            yield Asked(self.metric, cell)
        for cell in (self.first, self.second):
            for metric in filter(None, (self.reached, self.ends)):
                yield Asked(metric, cell)


class Ahead(Terms):
    """Cells ahead of others wherever they meet: a pair for each two, metric, agent and point."""

    kind: Literal["ahead"]
    experiment: str
    metrics: list[str] = Field(min_length=1)
    best: Literal["highest", "lowest"] = Field(
        "highest", description="lowest: who is ahead has the smaller value, as of times and errors"
    )
    ahead: dict[str, list[str]] = Field(description="a cell to those it is ahead of")
    other_metric: str | None = Field(None, description="of the second, where it is not the same")
    changes_from: dict[str, str] = Field(
        default_factory=dict,
        description="for changes: the cell from which each has changed",
    )
    agents: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=list, description="one by one, counted from 1; together if empty"
    )
    points: list[str] = Field(
        default_factory=list, description="of the sweep, as cells are named: pi=0.1"
    )

    def expanded(self) -> Iterator[Pair]:
        terms = self.model_dump(include=set(Terms.model_fields))
        pairs = [(first, other) for first, others in self.ahead.items() for other in others]
        agents: list[int | None] = [*self.agents] or [None]
        places = product(self.metrics, agents, self.points or [""])
        for (metric, agent, point), pair in product(places, pairs):
            first, second = ("_".join(filter(None, (name, point))) for name in pair)
            before = [self.changes_from[name] for name in (first, second) if self.changes_from]
            yield Pair(
                experiment=self.experiment, metric=metric, first=first, second=second,
                highest=self.best == "highest", second_metric=self.other_metric,
                changes_from=(before[0], before[1]) if before else None, agent=agent, **terms,
            )  # fmt: skip


class Along(Settings):
    """A metric that falls (or rises) along a sweep."""

    experiment: str
    metric: str
    along: str
    direction: Literal["falls", "rises"]
    points: list[Number] = Field(default_factory=list, description="of the sweep; all if empty")


class Trend(OfRuns, Along):
    """A variant's metric falls (or rises) along a sweep.

    It holds where the last point lies below (above) the first, unless a step is clearly reversed;
    steps that change nothing are allowed, as in the papers' own tables.
    """

    variant: str

    def asks(self) -> Iterator[Asked]:
        yield Asked(self.metric, variant=self.variant, along=self.along)
        for at in self.points:
            yield Asked(self.metric, variant=self.variant, along=self.along, at=at)


class Trends(Along):
    """Several variants' metrics fall (or rise) along a sweep: a trend for each."""

    kind: Literal["trend"]
    variants: list[str] = Field(min_length=1)

    def expanded(self) -> Iterator[Trend]:
        shared = self.model_dump(exclude={"kind", "variants"})
        for variant in self.variants:
            yield Trend(variant=variant, **shared)


class Equal(OfRuns):
    """All the cells' metrics are equal up to the margin, on the same seeds."""

    kind: Literal["equal"]
    metric: str
    cells: list[str] = Field(min_length=2)
    margin: float = Field(gt=0)

    def asks(self) -> Iterator[Asked]:
        yield from (Asked(self.metric, cell) for cell in self.cells)


class Unlike(Equal):
    """Every two of the cells' metrics differ by more than the margin, in either direction."""

    kind: Literal["unlike"]  # type: ignore[assignment]


class Near(OfRuns):
    """A cell's metric lies within the margin of a number that the paper gives, or beyond."""

    kind: Literal["near"]
    cell: str
    metric: str
    value: float
    margin: float = Field(ge=0)
    side: Literal["both", "below", "above"] = Field(
        "both", description="below (above): a value under (over) the number is as good"
    )
    ends: str | None = Field(None, description="as in `ahead`")
    agent: int | None = Field(None, ge=1, description="one agent's, counted from 1")
    counted: str = Field("", description="as in `ahead`")

    def asks(self) -> Iterator[Asked]:
        for metric in filter(None, (self.metric, self.ends)):
            yield Asked(metric, self.cell)


class Slope(OfRuns):
    """A metric is a power of a sweep's value: the exponent lies within the margin of a number.

    Each seed has an exponent, the least-squares slope of log metric on log value.
    """

    kind: Literal["slope"]
    variant: str
    metric: str
    along: str
    value: float = Field(description="the exponent that the paper gives")
    margin: float = Field(gt=0)
    reached: str | None = Field(
        None, description="a metric that is 0 where the other is only a lower bound"
    )

    def asks(self) -> Iterator[Asked]:
        for metric in filter(None, (self.metric, self.reached)):
            yield Asked(metric, variant=self.variant, along=self.along)


class PrintedLeast(OfRuns):
    """Of the numbers that the paper itself prints, a variant's is the least: no run enters."""

    experiment: Literal[""] = ""
    kind: Literal["printed_least"]
    artifact: str
    option: str = Field(description="of the artifact: the printed numbers by variant")
    least: Name = Field(description="the variant")

    def asks(self) -> Iterator[Asked]:
        yield from ()


class Holds(OfRuns):
    """A statement of the theory holds on every instance that was drawn."""

    kind: Literal["holds"]
    variant: str
    metric: str = Field(description="non-negative, but for rounding, where the statement holds")

    def asks(self) -> Iterator[Asked]:
        yield Asked(self.metric, variant=self.variant)


class Exists(OfRuns):
    """Some seed, or some drawn instance, has a metric above a bound."""

    kind: Literal["exists"]
    variant: str
    metric: str
    above: float = Field(1e-9, ge=0)

    def asks(self) -> Iterator[Asked]:
        yield Asked(self.metric, variant=self.variant)


Test = Pair | Trend | Equal | Unlike | Near | Slope | PrintedLeast | Holds | Exists
Written = Annotated[
    Ahead | Trends | Equal | Unlike | Near | Slope | PrintedLeast | Holds | Exists,
    Field(discriminator="kind"),
]


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
    """A sentence of the paper, and the tests that decide it: all must hold."""

    id: Name
    words: str = Field(description="the paper's words, in brief")
    where: str = Field(description="where they stand in the paper")
    test: Written | Annotated[list[Written], Field(min_length=1)] = Field(
        description="a test, or several that must all hold"
    )
    ours: bool = Field(
        False,
        description="the paper does not say it, or says it of other data; listed and counted apart",
    )
    average: bool = Field(
        False, description="asks about the mean over seeds; otherwise about most seeds"
    )
    range: float | None = Field(
        None,
        gt=0,
        description="by how much two values can differ, where the catalogue of metrics "
        "does not know or allows more than from a control to the best; fixed by what is possible, "
        "not by what was seen; a larger difference counts as this",
    )
    since: int = Field(
        0,
        ge=0,
        description="first seed that came after the test was written or changed; 0: all did",
    )
    contains: list[Name] = Field(
        default_factory=list, description="weaker claims that must hold if this one does"
    )
    note: str = Field("", description="to be read beside its verdict")
    budget_free: str = Field(
        "", description="why a shorter training decides it too; empty: it decides at its own budget"
    )
    needs_budget: str = Field("", description="why a shorter training says nothing about it")
    floor: Floor | None = Field(None, description="without it an order counts as it stands")
    ceiling: Ceiling | None = None

    @model_validator(mode="after")
    def a_budget_matters_or_not(self) -> "Claim":
        if self.budget_free and self.needs_budget:
            raise ValueError("'budget_free' and 'needs_budget' contradict each other")
        return self

    @property
    def tests(self) -> list[Test]:
        found: list[Test] = []
        for written in self.test if isinstance(self.test, list) else [self.test]:
            found += written.expanded() if isinstance(written, Ahead | Trends) else [written]
        return found
