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
from pfedrl.pipeline.short_runs import measured
from pfedrl.pipeline.store import Part, Store, Values, served, spans
from pfedrl.pipeline.verify import Compared, compare, digest

BEGINNING = "as far as it goes"  # of a longer committed run


def compare_with_record(project: Project, cell: Cell, seeds: range) -> Compared | None:
    """A run made here against the committed seeds it has in common; None where there are none."""
    store = Store(project.root)
    here, stored = (store.find(cell, seeds, [layer]) for layer in ("local", "committed"))
    shared = sorted(set(seeds) - {*here.missing, *stored.missing})
    if not shared:
        return None
    ours, theirs = (
        [part for seed in spans(shared) for part in store.find(cell, seed, [layer]).parts]
        for layer in ("local", "committed")
    )
    found, kept = (_columns(store.read(cell, parts)[0]) for parts in (ours, theirs))
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
    text += f", {kinds['same to rounding']} are the same to rounding" * bool(
        kinds["same to rounding"]
    )
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
    if experiment:
        chosen = [_chosen(project, store, paper, experiment, name)]
    else:
        chosen = sorted(_other_code(project, store, paper), key=lambda one: _seconds(store, one))
    seconds = [_seconds(store, one) for one in chosen]
    for place, (cell, part) in enumerate(chosen):
        seed = secrets.choice(part.take)
        answer = _rerun(store, cell, part, seed)
        if write and answer.answer == "same bits":
            with store.changed_manifest():
                _entry(store, cell, part)["compared"] = {
                    "seed": seed, "code": run_code(cell), "processor": maker(), "commit": commit()
                }  # fmt: skip
        yield answer
        progress(round(sum(seconds[: place + 1])), round(sum(seconds)))


def _chosen(
    project: Project, store: Store, paper: str, experiment: str, name: str
) -> tuple[Cell, Part]:
    project.experiment(paper, experiment)  # a wrong name is one clear error
    found = _committed(project, paper, experiment)
    runs = {cell.name: (cell, _any(parts)) for cell, parts in found}
    if not runs:
        raise PfedrlError(f"{paper}/{experiment}: no run is committed. See pfedrl publish.")
    if name and name not in runs:
        raise unknown("committed cell", name, runs, where=f"{paper}/{experiment}")
    return runs[name] if name else min(runs.values(), key=lambda one: _seconds(store, one))


def _committed(
    project: Project, paper: str, experiment: str = ""
) -> Iterator[tuple[Cell, list[Part]]]:
    """The cells of the record, each with its committed files."""
    project.paper(paper)
    for of, one in project.experiments_at(RECORD):
        if of == paper and experiment in ("", one):
            for found in served(project, paper, one, RECORD):
                parts = [part for part in found.parts if part.layer == "committed"]
                if parts:
                    yield found.cell, parts


def _any(parts: list[Part]) -> Part:
    """The file of a random seed."""
    return secrets.choice([part for part in parts for _ in part.take])


def _other_code(project: Project, store: Store, paper: str) -> Iterator[tuple[Cell, Part]]:
    """A file of each cell with files of other code, where none was compared with the code here."""
    for cell, parts in _committed(project, paper):
        code, entries = run_code(cell), [_entry(store, cell, part) for part in parts]
        compared = any(entry.get("compared", {}).get("code") == code for entry in entries)
        others = [p for p, e in zip(parts, entries, strict=True) if e["code"] != code]
        if others and not compared:
            yield cell, _any(others)


def _entry(store: Store, cell: Cell, part: Part) -> dict[str, Any]:
    return store.manifest[cell.folder]["files"][part.path.stem]


def _seconds(store: Store, one: tuple[Cell, Part]) -> float:
    """What a seed took."""
    return _entry(store, *one)["cpu_seconds"] / len(one[1].holds)


def _rerun(store: Store, cell: Cell, part: Part, seed: int) -> Compared:
    """One committed seed, made again."""
    name = f"{cell.paper} {cell.experiment} {cell.name}, seed {seed}"
    if (reason := cell.skip()) is not None:
        return Compared(name, "skipped", reason)
    check_data(cell)
    one = range(seed, seed + 1)
    stored, _ = store.read(cell, [part._replace(take=one)])
    found = _by_point(measured(cell, one, cell.curve_points))
    compared = compare(name, digest(_columns(stored)), digest(_columns(found)))
    if _entry(store, cell, part)["code"] == run_code(cell):
        return compared
    remark = "; ".join(filter(None, [compared.remark, "code or libraries changed since"]))
    return compared._replace(remark=remark)


def _by_point(columns: Mapping[str, np.ndarray]) -> Values:
    keys = zip(*(columns[key].tolist() for key in ("metric", "axis", "agent", "at")), strict=True)
    return {key: np.array([value]) for key, value in zip(keys, columns["value"], strict=True)}


def _columns(values: Values) -> dict[str, np.ndarray]:
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
        other, confirmed, count = 0, set(), 0
        for one in served(project, paper, experiment, scale):
            entries = [
                store.manifest[one.cell.folder]["files"][part.path.stem]
                for part in one.parts
                if part.layer == "committed"
            ]
            code, count = run_code(one.cell, HELD), count + 1
            if any(entry["code"] != code for entry in entries):
                other += 1
                confirmed |= {
                    entry["compared"]["seed"]
                    for entry in entries
                    if entry.get("compared", {}).get("code") == code
                }
        said = "this version of the code"
        if other:
            said = f"another version of the code in {other} of {count} cells"
        if confirmed:
            seeds = ", ".join(map(str, sorted(confirmed)))
            said += f"; seed {seeds} rerun with this version: same bits"
        found[paper, experiment] = said
    return found
