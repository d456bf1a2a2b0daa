"""Published evidence: the runs behind every number on the page, committed, in a small form.

results/published/<scale>/<paper>/<experiment>/<cell>/<block>.parquet is a run's artifact as the
pipeline wrote it, provenance and all, its values rounded to single precision. Tables, figures and
verdicts are made from these files alone (`pfedrl figures`); `pfedrl publish` adds finished runs to
them. An experiment is shown at the fullest scale at which all of its cells are there, with those
seeds that all of them have: a run may be published as soon as it ends, and waits for the others.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pfedrl.core.errors import PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.seal import sealed
from pfedrl.pipeline.artifact import KEY, read_facts, read_run
from pfedrl.pipeline.cells import Cell, cells, run_path
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Budget, Scale

FOLDER = Path("results", "published")
PAPER = "paper"  # the papers' own scale
SCALES = (PAPER, "laptop")  # the fuller budget first
NAME = "published"  # the scale that takes each experiment at the fullest of these


def published_folder(root: Path, scale: str, cell: Cell) -> Path:
    return root / FOLDER / scale / cell.paper / cell.experiment / cell.name


def published_runs(root: Path, scale: str, cell: Cell) -> list[Path]:
    """The published runs of a cell, ordered by seeds; those of other settings are an error."""
    found = []
    for path in published_folder(root, scale, cell).glob("*.parquet"):
        facts = read_facts(path)
        if facts["settings"] != cell.settings():
            raise PfedrlError(
                f"{path}: the settings of {cell.experiment}/{cell.name} have changed since this "
                f"run. Run it again and publish it, or remove it: git rm {path}"
            )
        found.append((facts["seeds"], path))
    return [path for _, path in sorted(found)]


def shared_runs(project: Project, paper: str, experiment: str, scale: str) -> dict[str, list[Path]]:
    """The published runs of each cell whose seeds all cells of the experiment have."""
    runs = {
        cell.name: {
            path: range(*read_facts(path)["seeds"])
            for path in published_runs(project.root, scale, cell)
        }
        for cell in cells(project, paper, experiment, scale)
        if cell.unfit() is None
    }
    while True:  # a run that is left out may leave another's seeds alone
        have = [set().union(*found.values()) for found in runs.values()]
        shared = set.intersection(*have) if have else set()
        kept = {
            name: {path: seeds for path, seeds in found.items() if shared.issuperset(seeds)}
            for name, found in runs.items()
        }
        if kept == runs:
            return {name: list(found) for name, found in runs.items()}
        runs = kept


def waiting(project: Project, scale: str, papers: list[str]) -> Iterator[str]:
    """The experiments of which some cells have published seeds that others lack, in words."""
    for paper in papers:
        for experiment in project.paper(paper).experiments:
            if project.budget(project.scale(scale), paper, experiment) is None:
                continue
            shared = shared_runs(project, paper, experiment, scale)
            have = {
                cell.name: len(published_runs(project.root, scale, cell)) > len(shared[cell.name])
                for cell in cells(project, paper, experiment, scale)
                if cell.name in shared
            }
            if any(have.values()):
                ahead, behind = (
                    ", ".join(name for name, more in have.items() if more == ahead)
                    for ahead in (True, False)
                )
                yield (
                    f"{paper}/{experiment}: new seeds of {ahead} are not used yet. Run the same "
                    f"seeds of {behind or 'the other cells'} and publish them."
                )


def scale_of(project: Project, paper: str, experiment: str) -> str | None:
    """The fullest scale at which every cell of an experiment is published, or None."""
    for scale in SCALES:
        if is_published(project, paper, experiment, scale):
            return scale
    return None


def is_published(project: Project, paper: str, experiment: str, scale: str) -> bool:
    """Whether every cell of an experiment is published at a scale."""
    if project.budget(project.scale(scale), paper, experiment) is None:
        return False
    wanted = [cell for cell in cells(project, paper, experiment, scale) if cell.unfit() is None]
    return all(published_runs(project.root, scale, cell) for cell in wanted)


class Fullest(Mapping[str, Budget]):
    """The budgets of a paper's published experiments, each at its fullest scale.

    A budget is found when it is asked for, because that imports the experiment's algorithms.
    """

    def __init__(self, project: Project, paper: str):
        self.project, self.paper = project, paper
        self._found: dict[str, Budget | None] = {}

    def __getitem__(self, experiment: str) -> Budget:
        if experiment not in self._found:
            self._found[experiment] = self._find(experiment)
        if (budget := self._found[experiment]) is None:
            raise KeyError(experiment)
        return budget

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.project.paper(self.paper).experiments if name in self)

    def __len__(self) -> int:
        return len(list(self))

    def _find(self, experiment: str) -> Budget | None:
        if experiment not in self.project.paper(self.paper).experiments:
            return None
        scale = scale_of(self.project, self.paper, experiment)
        if scale is None:
            return None
        return self.project.budget(self.project.scale(scale), self.paper, experiment)


def published_scale(project: Project) -> Scale:
    """Every experiment with the budget of the fullest scale at which it is published."""
    folders = [project.root / FOLDER / scale for scale in SCALES]
    shown = [paper for paper in project.papers if any((f / paper).is_dir() for f in folders)]
    return Scale.model_construct(  # validation would look up every budget
        scale=NAME,
        description="What is published, each experiment at its fullest budget.",
        verdicts=True,
        papers={paper: Fullest(project, paper) for paper in shown},
    )


def publish(project: Project, scale: str, papers: list[str]) -> Iterator[Path]:
    """Add the finished runs of a scale to the published ones; each new file as it is written."""
    if scale not in SCALES:
        raise PfedrlError(f"scale '{scale}' cannot be published. Choose {' or '.join(SCALES)}.")
    for paper in papers:
        for experiment in project.paper(paper).experiments:
            if project.budget(project.scale(scale), paper, experiment) is None:
                continue
            for cell in cells(project, paper, experiment, scale):
                folder = run_path(scale, cell, "0-1").parent
                for run in sorted((project.root / folder).glob("*.parquet")):
                    if (added := add_run(project.root, scale, cell, run)) is not None:
                        yield added


def add_run(root: Path, scale: str, cell: Cell, run: Path) -> Path | None:
    """Publish one run; None where the very same is there already.

    A run of the same seeds takes the place of an older one. One that shares only some seeds with
    what is there would count them twice, and is refused.
    """
    table, facts = read_run(run)
    if facts["settings"] != cell.settings():
        return None  # of an earlier budget; the pipeline will run it again
    target = published_folder(root, scale, cell) / run.name
    ours = range(*facts["seeds"])
    for path in published_runs(root, scale, cell):
        theirs = range(*read_facts(path)["seeds"])
        if path.name == target.name:
            if read_facts(path) == facts:
                return None
        elif ours.start < theirs.stop and theirs.start < ours.stop:
            raise PfedrlError(
                f"{run}: shares seeds with the published run {path}. To replace the published "
                f"run: git rm {path}. To keep it: rm {run}."
            )
    # single precision is more than any table prints, and half the size
    values = table["value"].cast(pa.float32())
    table = table.set_column(table.column_names.index("value"), "value", values)
    table = curve_by_curve(table)
    kept = {KEY: json.dumps(sealed(facts, table.schema)).encode()}
    table = table.replace_schema_metadata(kept)
    with atomic_write(target) as temporary:
        pq.write_table(
            table, temporary, compression="zstd", compression_level=19, write_statistics=False,
            use_dictionary=["experiment", "algorithm", "family", "axis", "metric"],
            column_encoding={
                "seed": "DELTA_BINARY_PACKED", "agent": "DELTA_BINARY_PACKED",
                "at": "DELTA_BINARY_PACKED", "value": "BYTE_STREAM_SPLIT",
            },
            write_page_checksum=True,
        )  # fmt: skip
    return target


def curve_by_curve(table: pa.Table) -> pa.Table:
    """The rows with the points of a curve side by side: what has settled takes no room then."""
    keys = ["metric", "axis", "agent", "seed", "at"]
    plain = table.select(keys).unify_dictionaries().combine_chunks()
    columns = [plain[key].combine_chunks() for key in keys]
    codes = [c.indices if pa.types.is_dictionary(c.type) else c for c in columns]
    return table.take(np.lexsort([code.to_numpy() for code in reversed(codes)]))
