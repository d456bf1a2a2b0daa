"""The project on disk: its papers, scales and family files, read and checked."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any, get_origin

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import OUTSIDE
from pfedrl.core.settings import Name, read_yaml, validate
from pfedrl.pipeline.claim import Claim, PrintedLeast
from pfedrl.pipeline.finding import STATISTICS, Finding
from pfedrl.pipeline.paper import (
    Artifact,
    Experiment,
    FidelityNote,
    Paper,
    Printed,
    Reference,
    comparison_of,
    readings_of,
    under,
)
from pfedrl.pipeline.reading import Reading
from pfedrl.pipeline.scale import Budget, Scale

# a paper's files by key, and whether a paper needs one
FILES: dict[str, tuple[Any, bool]] = {
    "experiments": (dict[Name, Experiment], True),
    "artifacts": (dict[Name, Artifact], False),
    "claims": (list[Claim], False),
    "readings": (list[Reading], False),
    "findings": (list[Finding], False),
    "fidelity": (list[FidelityNote], False),
}
COLUMNS = list(Printed.model_fields)
# a paper is a rule too, and Snakemake knows each rule by its name
RULES = (
    "all", "build", "describe", "run", "summarise", "draw_table", "draw_figure", "draw_comparison",
    "claims", "report", "reruns", "board",
)  # fmt: skip


@dataclass(frozen=True)
class Project:
    """The folder with Snakefile, workflow/ and envs/."""

    root: Path

    @classmethod
    def here(cls, root: Path | None = None) -> "Project":
        root = Path.cwd() if root is None else root
        if not (root / "workflow" / "papers").is_dir():
            raise PfedrlError(
                f"{root} is not the project's folder: it has no workflow/papers. "
                "Run the command from the folder that holds the Snakefile."
            )
        return cls(root)

    @classmethod
    def here_or_own(cls) -> "Project":
        """The project of this folder; elsewhere, the one that pfedrl is installed from."""
        own = Path(__file__).parent.parent.parent
        return cls.here() if Path("workflow", "papers").is_dir() else cls.here(own)

    @cached_property
    def paper_names(self) -> list[str]:
        folders = (self.root / "workflow" / "papers").glob("*/paper.yaml")
        return sorted(path.parent.name for path in folders)

    @property
    def papers(self) -> dict[str, Paper]:
        return {name: self.paper(name) for name in self.paper_names}

    @cached_property
    def paper(self) -> Callable[[str], Paper]:
        """One paper, read when it is first asked for."""
        return cache(self._read_paper)

    def _read_paper(self, name: str) -> Paper:
        """A paper's files as one page; each is checked by itself, so that errors name it."""
        if name not in self.paper_names:
            raise unknown("paper", name, self.paper_names)
        folder = self.root / "workflow" / "papers" / name
        where = folder.relative_to(self.root)
        validate(Name, name, f"{where}")
        if name in RULES:
            raise PfedrlError(
                f"{where}: '{name}' is the name of a Snakemake rule; rename the folder."
            )
        head = validate(Reference, read_yaml(folder / "paper.yaml"), f"{where}/paper.yaml")
        read: dict[str, Any] = {}
        for key, (kind, needed) in FILES.items():
            path = folder / f"{key}.yaml"
            if needed or path.exists():
                values = read_yaml(path, get_origin(kind))
                read[key] = validate(kind, values, f"{where}/{key}.yaml")
        artifacts = read.get("artifacts", {})
        for path in sorted((folder / "printed").glob("*.csv")):
            place = f"{where}/printed/{path.name}"
            if path.stem not in artifacts:
                raise unknown("artifact", path.stem, artifacts, place)
            if artifacts[path.stem].printed:
                raise PfedrlError(
                    f"{where}/artifacts.yaml, {path.stem}: 'printed' is read from {place}; remove "
                    "it here."
                )
            rows = _read_printed(path, place)
            artifacts[path.stem] = artifacts[path.stem].model_copy(update={"printed": rows})
        declared, readings = read["experiments"], read.get("readings", [])
        read["experiments"] = dict(_with_readings(declared, readings, where))
        unasked = dict(_unasked(declared, read["experiments"], readings))
        for taken in artifacts.keys() & unasked.keys():
            raise PfedrlError(
                f"{where}/artifacts.yaml, {taken}: this name is reserved for the automatic figure "
                f"of the experiment {unasked[taken].experiments[0]}; rename the artifact."
            )
        read["artifacts"] = artifacts | unasked
        paper = validate(Paper, {"paper": name, **dict(head), **read}, str(where))
        _check_references(paper, str(where))
        return paper

    def experiment(self, paper: str, name: str) -> Experiment:
        experiments = self.paper(paper).experiments
        if name not in experiments:
            raise unknown(
                "experiment", name, experiments, where=f"workflow/papers/{paper}/experiments.yaml"
            )
        return experiments[name]

    def place(self, paper: str, experiment: str) -> str:
        """Where an experiment is declared, for errors."""
        reading = self.paper(paper).reading_of(experiment)
        file = (
            f"experiments.yaml, {experiment}" if reading is None else f"readings.yaml, {reading.id}"
        )
        return f"workflow/papers/{paper}/{file}"

    @cached_property
    def scale(self) -> Callable[[str], Scale]:
        """A file in workflow/scales."""
        return cache(self._read_scale)

    def _read_scale(self, name: str) -> Scale:
        folder = self.root / "workflow" / "scales"
        known = [path.stem for path in folder.glob("*.yaml")]
        if name not in known:
            raise unknown("scale", name, known)
        path = folder / f"{name}.yaml"
        scale = validate(Scale, read_yaml(path), str(path.relative_to(self.root)))
        if scale.scale != name:
            raise PfedrlError(
                f"workflow/scales/{name}.yaml: 'scale' must be {name}, like the file name."
            )
        for paper in scale.papers:
            if paper not in self.paper_names:
                raise unknown("paper", paper, self.paper_names, f"workflow/scales/{name}.yaml")
        return scale

    def budget(self, scale: Scale, paper: str, experiment: str) -> Budget | None:
        """The budget of an experiment, or None where the scale leaves the paper out."""
        budgets = scale.papers.get(paper, {})
        known = self.paper(paper).experiments
        for named in budgets.keys() - {"default"} - known.keys():
            raise unknown("experiment", named, known, f"workflow/scales/{scale.scale}.yaml")
        return budgets.get(experiment, budgets.get("default"))

    def experiments_at(self, scale: str) -> list[tuple[str, str]]:
        """Paper and name of every experiment that has a budget at a scale."""
        chosen = self.scale(scale)
        return [
            (paper, experiment)
            for paper in chosen.papers
            for experiment in self.paper(paper).experiments
            if self.budget(chosen, paper, experiment) is not None
        ]

    def data_digest(self, name: str) -> str | None:
        """The digest that workflow/data.yaml prescribes for a data set's arrays."""
        return self._data.get(name, {}).get("sha256")

    @cached_property
    def _data(self) -> dict[str, Any]:
        path = self.root / "workflow" / "data.yaml"
        return read_yaml(path) if path.exists() else {}

    @cached_property
    def family_defaults(self) -> Callable[[str], dict[str, Any]]:
        """What envs/<name>.yaml says of a family."""
        return cache(self._read_family)

    def _read_family(self, name: str) -> dict[str, Any]:
        folder = self.root / "envs"
        known = [path.stem for path in folder.glob("*.yaml")]
        if name not in known and name in OUTSIDE["envs"]:
            return {}
        if name not in known:
            raise unknown("family", name, known)
        values = read_yaml(folder / f"{name}.yaml")
        return {key: values[key] for key in values if key not in ("family", "description")}


def _with_readings(
    experiments: dict[str, Experiment], readings: list[Reading], where: Path
) -> Iterator[tuple[str, Experiment]]:
    """Each experiment, and behind it the same under the readings of what its paper leaves open."""
    taken = dict.fromkeys(experiments, "experiments.yaml")
    for reading, name in ((one, name) for one in readings for name in one.experiments):
        place = f"{where}/readings.yaml, {reading.id}"
        for one in reading.experiments:
            if one not in experiments:
                raise unknown("experiment", one, experiments, place)
        if (made := reading.runs(name)) in taken:
            raise PfedrlError(
                f"{place}: the experiment {made} is defined by {taken[made]} too; rename one."
            )
        taken[made] = f"the reading {reading.id}"
        known = dict.fromkeys(v for one in reading.experiments for v in experiments[one].variants)
        for variant in reading.variants:
            if variant not in known:
                named = ", ".join(reading.experiments)
                raise unknown(f"variant of {named}", variant, known, place)
    for name, experiment in experiments.items():
        yield name, experiment
        for reading in readings:
            if name in reading.experiments:
                yield reading.runs(name), under(reading, experiment)


def _unasked(
    declared: dict[str, Experiment], every: dict[str, Experiment], readings: list[Reading]
) -> Iterator[tuple[str, Artifact]]:
    """The figures that experiments get automatically: their readings, and a comparison."""
    for name, experiment in declared.items():
        made = [reading.runs(name) for reading in readings if name in reading.experiments]
        if made and not experiment.sweep:
            yield f"readings_{name}", readings_of(name, experiment, made)
    for name, experiment in every.items():
        if (comparison := comparison_of(name, experiment)) is not None:
            yield f"comparison_{name}", comparison


def _check_references(paper: Paper, where: str) -> None:
    """Experiments and artifacts that are named exist, and no two claims or notes share an id."""

    def check(kind: str, name: str, known: Iterable[str], place: str) -> None:
        if name not in known:
            raise unknown(kind, name, known, f"{where}/{place}")

    for name, artifact in paper.artifacts.items():
        for experiment in artifact.experiments:
            check("experiment", experiment, paper.experiments, f"artifacts.yaml, {name}")
        for experiment in artifact.may_miss:
            check("experiment", experiment, artifact.experiments, f"artifacts.yaml, {name}")
        for row in artifact.printed:
            check("experiment", row.experiment, artifact.experiments, f"printed/{name}.csv")
    known: dict[str, Iterable[str]]
    known = {"experiment": paper.experiments, "artifact": paper.artifacts}
    for claim in paper.claims:
        for test, (kind, names) in product(claim.tests, known.items()):
            if named := getattr(test, kind, None):
                check(kind, named, names, f"claims.yaml, {claim.id}")
        for weaker in claim.contains:
            known_claims = [other.id for other in paper.claims]
            check("claim", weaker, known_claims, f"claims.yaml, {claim.id}.contains")
        for test in claim.tests:
            if isinstance(test, PrintedLeast):
                options = paper.artifacts[test.artifact].options
                check("option", test.option, options, f"claims.yaml, {claim.id}")
                check("variant", test.least, options[test.option], f"claims.yaml, {claim.id}")
    for finding in paper.findings:
        place = f"findings.yaml, {finding.id}"
        for artifact_name in finding.see:
            check("artifact", artifact_name, paper.artifacts, f"{place}.see")
        for name, number in finding.numbers.items():
            for experiment in finding.experiments_of(number):
                check("experiment", experiment, paper.experiments, f"{place}.numbers.{name}")
        for asked in finding.placeholders():
            check("number", asked.name, finding.numbers, place)
            check("statistic", asked.statistic, STATISTICS, f"{place}, {{{asked.name}}}")
        for unused in finding.numbers.keys() - {asked.name for asked in finding.placeholders()}:
            raise PfedrlError(f"{where}/{place}.numbers: '{unused}' is not in its text.")
    for file in ("claims", "readings", "findings", "fidelity"):
        ids = [one.id for one in getattr(paper, file)]
        for twice in {name for name in ids if ids.count(name) > 1}:
            raise PfedrlError(f"{where}/{file}.yaml: the id '{twice}' is given twice.")


def _read_printed(path: Path, where: str) -> list[Printed]:
    """The rows of a CSV file of printed numbers; an empty field is what the paper leaves out."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, restkey="more fields than columns")
        if reader.fieldnames != COLUMNS:
            raise PfedrlError(f"{where}: the first line must be {','.join(COLUMNS)}.")
        return [
            validate(
                Printed,
                {key: value for key, value in row.items() if value},
                f"{where}, line {reader.line_num}",
            )
            for row in reader
        ]
