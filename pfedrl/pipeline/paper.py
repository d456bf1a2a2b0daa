"""A paper's page: its experiments, tables and figures, printed numbers, claims, findings, notes."""

import math
from collections.abc import Collection
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pfedrl.core.settings import Name, Settings
from pfedrl.pipeline.claim import Ceiling, Claim, Number
from pfedrl.pipeline.finding import Finding
from pfedrl.pipeline.reading import Reading

LONG_RUN = "long run, best"  # the label of a ceiling that another experiment reached
SHOWN = 200  # seeds at most that a comparison draws one by one


class Comparison(Settings):
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


class Experiment(Settings):
    """Variants of algorithms on one environment family, over a sweep."""

    title: str = Field(description="what is compared, in a few words")
    family: dict[str, Any] | None = Field(
        None, description="the family's name, and what differs from its file in envs/"
    )
    sweep: dict[str, Annotated[list[Number], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="family.<key> or algorithm.<key> to the values it takes; all combinations run",
    )
    variants: dict[Name, dict[str, Any]] = Field(
        min_length=1,
        description="name to settings; the name is the algorithm's unless the key 'algorithm' says",
    )
    settings: dict[str, Any] = Field(
        default_factory=dict, description="of every variant that has them and gives no other"
    )
    curve_points: int = Field(
        0, ge=0, description="points of the learning curve kept a seed; 0 keeps the last only"
    )

    labels: dict[Name, str] = Field(
        default_factory=dict,
        description="a variant to its name in tables and figures, where it is not the "
        "algorithm's; {local_steps} is that setting",
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

    @model_validator(mode="after")
    def labels_are_of_variants(self) -> "Experiment":
        for variant in self.labels:
            if variant not in self.variants:
                raise ValueError(f"labels: '{variant}' is not one of its variants")
        return self


def under(reading: Reading, experiment: Experiment) -> Experiment:
    """An experiment as a reading runs it: some of its variants, of which something is otherwise."""
    variants = {
        name: given | reading.variants[name]
        for name, given in experiment.variants.items()
        if name in reading.variants
    }
    title = f"{experiment.title}, {reading.words}"
    family = experiment.family and experiment.family | reading.family
    changed = {"title": title, "variants": variants, "family": family}
    return experiment.model_copy(update=changed)


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
            raise ValueError("'along' and 'at' must be given together")
        return self

    @property
    def text(self) -> str:
        """Value and error as they are printed."""
        error = "" if self.error is None else f" ± {self.error}"
        return f"{self.value}{error}".replace("-", "−")

    @property
    def half_unit(self) -> float:
        """Half of the last printed digit, which is what rounding may hide."""
        return _half_unit(self.value)

    @property
    def standard_error(self) -> float | None:
        """As printed; one printed as 0.00 is not zero but at the most half of its last digit."""
        return None if self.error is None else float(self.error) or _half_unit(self.error)


def _half_unit(number: Decimal) -> float:
    return 0.5 * 10.0 ** int(number.as_tuple().exponent)


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
    may_miss: list[str] = Field(
        default_factory=list, description="experiments without which it is drawn too, and says so"
    )
    printed: list[Printed] = Field(
        default_factory=list, description="read from printed/<artifact>.csv"
    )
    options: dict[str, Any] = Field(default_factory=dict, description="passed to the module")

    def drawable(self, run: Collection[str]) -> bool:
        """Whether it can be drawn from the experiments that were run."""
        needed = set(self.experiments) - set(self.may_miss)
        return needed <= set(run) and not set(self.experiments).isdisjoint(run)


UNASKED = ("comparison", "readings_figure")  # figures that every experiment gets automatically


def comparison_of(name: str, experiment: Experiment) -> Artifact | None:
    """What an experiment has without being asked, if there is anything to compare."""
    swept = [values for key, values in experiment.sweep.items() if key.startswith("algorithm.")]
    cells = len(experiment.variants) * math.prod(len(values) for values in swept)
    if experiment.family is None or cells < 2:
        return None
    caption = (
        "Final values of every variant that was run, and paired differences (same seeds) to the "
        f"best variant and to the baseline. Each dot is one seed (at most the first {SHOWN}). The "
        "vertical bar is the mean; the horizontal line is the 95% interval over all seeds."
    )
    beside = []
    if (ceiling := experiment.comparison.ceiling) is not None:
        beside = [str(ceiling.experiment)]
        caption += f" The {LONG_RUN}: {ceiling.metric} of {ceiling.cell} in {ceiling.experiment}."
    return Artifact(
        kind="comparison",
        title=f"{experiment.title}: every variant",
        draw="comparison",
        experiments=[name, *beside],
        may_miss=beside,
        caption=caption,
        options=experiment.comparison.model_dump(),
    )


def readings_of(name: str, experiment: Experiment, made: list[str]) -> Artifact:
    """What an experiment with readings has without being asked: all of them in one figure."""
    return Artifact(
        kind="figure",
        title=f"{experiment.title}: under each reading of what the paper leaves open (ours)",
        draw="readings_figure",
        experiments=[name, *made],
        may_miss=made,
        caption=(
            "Final values of the algorithms that were run under every reading. Each small mark is "
            "one seed; the large mark is the mean with its 95% interval. Training lengths differ "
            "between scales, so compare algorithms within a row. Controls are from the first row."
        ),
        options=experiment.comparison.model_dump(include={"metric"}),
    )


class FidelityNote(Settings):
    """Where paper and code differ, or the paper is silent: what we do, and why."""

    id: Name
    paper: str
    code: str = ""
    ours: str
    switch: str = Field("", description="the setting that changes it, if one does")


class Reference(Settings):
    """paper.yaml."""

    short: str = Field(description="the name by which readers know the paper: PFedRL-Rep")
    title: str
    reference: str
    theory: str | None = Field(None, description="the folder that runs and judges its theory")


class Paper(Reference):
    """A folder in workflow/papers: paper.yaml, and a file for each of the rest."""

    paper: str = Field(description="the folder's name")
    experiments: dict[str, Experiment]
    artifacts: dict[str, Artifact] = Field(default_factory=dict)
    claims: list[Claim] = Field(default_factory=list)
    readings: list[Reading] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    fidelity: list[FidelityNote] = Field(default_factory=list)

    @property
    def printed(self) -> list[Printed]:
        """The printed numbers of all artifacts."""
        return [row for artifact in self.artifacts.values() for row in artifact.printed]

    def reading_of(self, experiment: str) -> Reading | None:
        """The reading that makes an experiment, or None where experiments.yaml declares it."""
        made = (one for one in self.readings if experiment in map(one.runs, one.experiments))
        return next(made, None)
