"""Runs made again: those made here against the committed ones, and committed seeds once more."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.processor import HELD, maker
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.costs import AFTERWARDS, LENGTHS
from pfedrl.pipeline.environments import check_data
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.run_file import commit
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.served import served
from pfedrl.pipeline.store import Layer, Part, Store, Values
from pfedrl.pipeline.verify import Columns, Compared, compare, digest, measured

BEGINNING = "as far as it goes"  # of a longer committed run


def compare_with_record(project: Project, cell: Cell, seeds: range) -> Compared | None:
    """A run made here against the committed seeds it has in common; None where there are none."""
    store = Store(project.root)
    layers: tuple[Layer, ...] = ("local", "committed")
    missing = [seed for layer in layers for seed in store.find(cell, seeds, [layer]).missing]
    if not (shared := set(seeds).difference(missing)):
        return None
    found, kept = (
        _columns(store.read(cell, store.find(cell, shared, [layer]).parts)[0]) for layer in layers
    )
    return compare(cell.name, digest(kept), digest(found))


def reruns(project: Project, scale: str) -> Iterator[Compared]:
    """Every run of a scale that was made here, against the committed run with the same key, or
    against a longer one of which it is the beginning."""
    store, seen = Store(project.root), set()
    for paper, experiment in project.experiments_at(scale):
        for cell in cells(project, paper, experiment, scale):
            if cell.folder in seen or store.find(cell, cell.seeds, ["local"]).missing:
                continue
            seen.add(cell.folder)
            found = compare_with_record(project, cell, cell.seeds) or _beginning(store, cell)
            name = f"{paper}/{experiment}/{cell.name}"
            yield (found or Compared(name, "nothing stored"))._replace(name=name)


def _beginning(store: Store, cell: Cell) -> Compared | None:
    """A run against the curves of a committed one that differs in its length alone, as far as it
    goes; None where there is none, or where the length shapes the training from the start."""
    for entry in store.manifest.values():
        if entry["data"] != cell.data or not _longer(entry["settings"], cell.settings()):
            continue
        longer = _with(cell, entry["settings"])
        ours = store.find(cell, cell.seeds, ["local"])
        theirs = store.find(longer, cell.seeds, ["committed"])
        if ours.missing or theirs.missing:
            continue
        short, _ = store.read(cell, ours.parts)
        long, _ = store.read(longer, theirs.parts)
        points = [point for point in short.keys() & long.keys() if not point[0].startswith("adapt")]
        curves = Counter(point[:3] for point in points)
        shared = [point for point in points if curves[point[:3]] > 1]
        if shared and all(_same(short[point], long[point]) for point in shared):
            return Compared(cell.name, "same bits", BEGINNING)
    return None


def _with(cell: Cell, settings: Mapping[str, Any]) -> Cell:
    """The cell with the lengths and curve points of other settings."""
    parts = {"runnable": settings["algorithm"], "family": settings["family"] or {}}
    changed = {
        part: getattr(cell, part).model_copy(
            update={key: given[key] for key in given.keys() & {*LENGTHS, *AFTERWARDS}}
        )
        for part, given in parts.items()
        if getattr(cell, part) is not None
    }
    return replace(cell, curve_points=settings["curve_points"], **changed)


def _same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return np.array_equal(ours.astype(np.float32), theirs.astype(np.float32), equal_nan=True)


def _longer(settings: Mapping[str, Any], than: Mapping[str, Any]) -> bool:
    """Whether two trainings differ in nothing but their length."""
    for part in ("algorithm", "family"):
        ours, theirs = settings[part] or {}, than[part] or {}
        keys = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
        if not keys <= {*LENGTHS, *AFTERWARDS} - {"train_samples"}:
            return False
        if any(ours[key] < theirs[key] for key in keys & {*LENGTHS}):
            return False
    return settings["algorithm"] != than["algorithm"]


def headline(found: Iterable[Compared]) -> str:
    """How many runs came out as the record has them; nothing where it has none of them."""
    answers = list(found)
    if all(one.answer == "nothing stored" for one in answers):
        return ""
    same = [one for one in answers if one.answer == "same bits"]
    begun = sum(one.remark == BEGINNING for one in same)
    kinds = Counter(one.answer for one in answers)
    text = f"Compared with the record: {len(same)} of {len(answers)} runs have the same bits"
    text += f" ({begun} of them as far as they go)" if begun else ""
    if rounded := kinds["same to rounding"]:
        text += f", {rounded} are the same to rounding"
    text += f", {kinds['differs']} differ"
    new = kinds["nothing stored"]
    return f"{text}, {new} have no counterpart." if new else f"{text}."


def verify_committed(
    project: Project,
    paper: str,
    experiment: str = "",
    name: str = "",
    *,
    write: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Compared]:
    """Make a random committed seed again, and record the same bits if `write` says so.

    Of an experiment without a cell the quickest is chosen; of a paper alone, every cell that is
    neither of the code here nor was compared with it, the quickest first.
    """
    store = Store(project.root)
    runs = dict(_committed(project, paper, experiment))
    if experiment:
        chosen = [_chosen(store, runs, f"{paper}/{experiment}", name)]
    else:
        chosen = [(cell, others) for cell, parts in runs.items()
                  if (others := _of_other_code(store, cell, parts))]  # fmt: skip
    picked = [(cell, secrets.choice([p for p in parts for _ in p.take])) for cell, parts in chosen]
    picked.sort(key=lambda one: _seconds(store, one[1]))
    seconds = [_seconds(store, part) for _, part in picked]
    for place, (cell, part) in enumerate(picked):
        seed = secrets.choice(part.take)
        answer = rerun(store, cell, part, seed)
        if write and answer.answer == "same bits":
            with store.changed_manifest():
                store.entry(part.path)["compared"] = {
                    "seed": seed, "code": run_code(cell), "processor": maker(), "commit": commit()
                }  # fmt: skip
        yield answer
        progress(round(sum(seconds[: place + 1])), round(sum(seconds)))


def _committed(project: Project, paper: str, only: str) -> Iterator[tuple[Cell, list[Part]]]:
    """The record's cells, of a paper or of one experiment, each with its committed files."""
    experiments = project.paper(paper).experiments
    if only:
        project.experiment(paper, only)  # a wrong name is one clear error
    for experiment in [only] if only else experiments:
        if project.budget(project.scale(RECORD), paper, experiment) is not None:
            for one in served(project, paper, experiment, RECORD):
                if parts := [part for part in one.parts if part.layer == "committed"]:
                    yield one.cell, parts


def _chosen(
    store: Store, runs: Mapping[Cell, list[Part]], where: str, name: str
) -> tuple[Cell, list[Part]]:
    """The cell of a name, or the quickest."""
    if not runs:
        raise PfedrlError(f"{where}: no run is committed. See pfedrl publish.")
    if not name:
        return min(runs.items(), key=lambda one: _seconds(store, one[1][0]))
    found = {cell.name: (cell, parts) for cell, parts in runs.items()}
    if name not in found:
        raise unknown("committed cell", name, found, where=where)
    return found[name]


def _of_other_code(store: Store, cell: Cell, parts: list[Part]) -> list[Part]:
    """A cell's files of other code; none where one of its files was compared with the code here."""
    code, entries = run_code(cell), [store.entry(part.path) for part in parts]
    if any(entry.get("compared", {}).get("code") == code for entry in entries):
        return []
    return [part for part, entry in zip(parts, entries, strict=True) if entry["code"] != code]


def _seconds(store: Store, part: Part) -> float:
    """What a seed took."""
    return store.entry(part.path)["cpu_seconds"] / len(part.holds)


def rerun(store: Store, cell: Cell, part: Part, seed: int) -> Compared:
    """One committed seed, made again."""
    name = f"{cell.paper} {cell.experiment} {cell.name}, seed {seed}"
    if (reason := cell.why_not()) is not None:
        return Compared(name, "skipped", reason)
    check_data(cell)
    one = range(seed, seed + 1)
    stored, _ = store.read(cell, [part._replace(take=one)])
    found = _by_point(measured(cell, one, cell.curve_points))
    compared = compare(name, digest(_columns(stored)), digest(_columns(found)))
    return compared.after(store.entry(part.path)["code"] != run_code(cell))


def _by_point(columns: Columns) -> Values:
    keys = zip(*(columns[key].tolist() for key in ("metric", "axis", "agent", "at")), strict=True)
    return {key: np.array([value]) for key, value in zip(keys, columns["value"], strict=True)}


def _columns(values: Values) -> Columns:
    """Values in one order, as recorded columns in single precision."""
    points = sorted(values)
    seeds = len(values[points[0]])
    metric, axis, agent, at = (np.repeat(np.array(key), seeds) for key in zip(*points, strict=True))
    return {
        "seed": np.tile(np.arange(seeds), len(points)), "agent": agent, "axis": axis, "at": at,
        "metric": metric,
        "value": np.concatenate([values[point] for point in points]).astype(np.float32),
    }  # fmt: skip


def code_behind(project: Project, scale: str) -> dict[tuple[str, str], str]:
    """Of every paper and experiment of a scale, whether the code here made its committed runs."""
    store, found = Store(project.root), {}
    for paper, experiment in project.experiments_at(scale):
        other, confirmed = 0, set()
        cells_of = served(project, paper, experiment, scale)
        for one in cells_of:
            files = [store.entry(p.path) for p in one.parts if p.layer == "committed"]
            code = run_code(one.cell, HELD)
            if any(file["code"] != code for file in files):
                other += 1
                compared = [file["compared"] for file in files if "compared" in file]
                confirmed |= {rerun["seed"] for rerun in compared if rerun["code"] == code}
        said = "this version of the code"
        if other:
            said = f"another version of the code in {other} of {len(cells_of)} cells"
        if confirmed:
            seeds = ", ".join(map(str, sorted(confirmed)))
            said += f"; seed {seeds} rerun with this version: same bits"
        found[paper, experiment] = said
    return found
