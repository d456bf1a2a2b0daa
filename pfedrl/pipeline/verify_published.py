"""Published runs, made again a seed at a time: their values are kept in single precision."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.pipeline import confirmed
from pfedrl.pipeline.artifact import read_facts, read_run
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.confirmed import Made, code_behind, first_runs, of_the_code_here
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import SCALES, published_folder
from pfedrl.pipeline.records import read_records
from pfedrl.pipeline.short_runs import measured
from pfedrl.pipeline.verify import KEYS, Compared, compare, digest

Progress = Callable[[int, int], None]


def listed(project: Project) -> Iterator[str]:
    """Each published experiment, and whether its code is the code here."""
    lines = 0
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            for scale, words in code_behind(project, paper, experiment).items():
                lines += 1
                yield f"{paper} {experiment} at the {scale} scale: {words}"
    if not lines:
        yield "nothing is published yet: pfedrl publish adds finished runs."


def verify_published(
    project: Project,
    paper: str,
    experiment: str = "",
    name: str | None = None,
    *,
    write: bool = False,
    progress: Progress = lambda done, total: None,
) -> Iterator[Compared]:
    """Make the first published seed of a cell again, and keep a record of it if `write` says so.

    Of an experiment without a cell, the quickest is chosen. Of a paper alone, every cell is made
    again that is neither of the code here nor confirmed by it, the quickest first: what is done is
    kept, so that it may be stopped and gone on with.
    """
    if experiment:
        chosen = [_chosen(project, paper, experiment, name)]
    else:
        chosen = sorted(_open(project, paper), key=_seconds)
    seconds = [_seconds(made) for made in chosen]
    for place, made in enumerate(chosen):
        yield _again(project, made, write)
        progress(round(sum(seconds[: place + 1])), round(sum(seconds)))


def _chosen(project: Project, paper: str, experiment: str, name: str | None) -> Made:
    project.experiment(paper, experiment)  # a wrong name is one clear error
    found = list(first_runs(project, paper, experiment))
    runs = {made.cell.name: made for made in reversed(found)}  # the fuller scale wins
    if not runs:
        raise PfedrlError(f"{paper}/{experiment}: nothing is published. See pfedrl publish.")
    if name is not None and name not in runs:
        raise unknown("published cell", name, runs, where=f"{paper}/{experiment}")
    return runs[name] if name is not None else min(runs.values(), key=_seconds)


def _open(project: Project, paper: str) -> Iterator[Made]:
    """The published cells of a paper of which nobody knows whether the code here makes them."""
    records = read_records(project.root, confirmed.FILE)
    published = 0
    for experiment in project.paper(paper).experiments:
        for made in first_runs(project, paper, experiment):
            published += 1
            if of_the_code_here(project, made):
                continue
            if confirmed.confirmed_seed(records, made) is None:
                yield made
    if not published:
        raise PfedrlError(f"{paper}: nothing is published. See pfedrl publish.")


def _again(project: Project, made: Made, write: bool) -> Compared:
    scale, cell, path = made
    seed = read_facts(path)["seeds"][0]
    full_name = f"{cell.paper} {cell.experiment} {cell.name}, seed {seed} at the {scale} scale"
    if (reason := cell.skip()) is not None:
        return Compared(full_name, "skipped", reason)
    seeds = range(seed, seed + 1)
    found = _ordered(measured(cell, seeds, cell.curve_points))
    compared = compare(full_name, digest(_rows([path], seeds)), digest(found))
    if write and compared.answer == "same bits":
        confirmed.record(project, made, seed)
    if of_the_code_here(project, made):
        return compared
    remark = "; ".join(filter(None, [compared.remark, "code or libraries changed since"]))
    return compared._replace(remark=remark)


def compare_with_record(project: Project, cell: Cell, run: Path) -> Compared:
    """A run that was made here against the published one of the same settings and seeds."""
    seeds = range(*read_facts(run)["seeds"])
    for scale in SCALES:
        folder = published_folder(project.root, scale, cell)
        same = [p for p in folder.glob("*.parquet") if read_facts(p)["settings"] == cell.settings()]
        have = [seed for path in same for seed in range(*read_facts(path)["seeds"])]
        if set(seeds) <= set(have):
            return compare(cell.name, digest(_rows(same, seeds)), digest(_rows([run], seeds)))
    return Compared(cell.name, "nothing stored")


def _rows(runs: Iterable[Path], seeds: range) -> dict[str, np.ndarray]:
    """What run files record of some seeds, in one order and in single precision."""
    tables = [read_run(path)[0].select([*KEYS, "value"]) for path in runs]
    table = pa.concat_tables(
        [t.set_column(len(KEYS), "value", t["value"].cast(pa.float32())) for t in tables]
    ).unify_dictionaries()
    table = table.filter(pc.is_in(table["seed"], pa.array(seeds, table["seed"].type)))
    return _ordered({key: np.array(table[key].to_pylist()) for key in (*KEYS, "value")})


def _ordered(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same rows in one order, as a published file has them curve by curve."""
    order = np.lexsort([columns[key] for key in KEYS])
    found = {key: columns[key][order] for key in KEYS}
    return found | {"value": columns["value"][order].astype(np.float32)}


def _seconds(made: Made) -> float:
    """What a seed took."""
    facts = read_facts(made.path)
    first, last = facts["seeds"]
    return facts["cpu_seconds"] / (last - first)
