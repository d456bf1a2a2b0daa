"""Are the numbers here those that are stored? Runs are made again and compared.

`same bits`: every recorded number is the stored one. `same to rounding`: the same rows, and every
metric's mean within the tolerance. `differs`: anything else.

The tolerance is wide enough for what single precision loses in a short run: about 1e-7 a step,
which grows while nets learn; with AVX-512, and with nothing above SSE, means came out up to 5e-6
apart. It is below what another choice of action makes, which shifts a return by a step at least.
Rounding does decide on an action in the end: hence the runs are short. Where a number stands for
the rounding itself, as in an equality that holds, it is near zero: ABSOLUTE.

Stored are digests of short runs of every algorithm and statement, on every family that it runs on,
at the budgets of workflow/scales/tiny.yaml. For committed runs see reruns.py.
"""

import hashlib
import json
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError, unknown
from pfedrl.core.files import write_text
from pfedrl.core.processor import HELD, NUMBA, PINS, SWITCH
from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components, load
from pfedrl.core.settings import validate
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.execute import await_workers
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project
from pfedrl.stack.loop import Control

Columns = dict[str, np.ndarray]  # recorded ones, by name
Answer = Literal["same bits", "same to rounding", "differs", "nothing stored", "skipped"]

FILE = Path("workflow", "digests.json")
SCALE = "tiny"
CURVE_POINTS = 3
SWITCHES = ("unit", "step_size", "graph")  # settings that choose another way through the code
SEEDS = range(1)
RELATIVE, ABSOLUTE = 1e-4, 1e-9
KEYS = ("seed", "agent", "axis", "at", "metric")


class Digest(NamedTuple):
    """What is kept of a run."""

    bits: str  # of all that was recorded
    rows: str  # of all but the values: what was recorded, and which values are no numbers
    metrics: dict[str, list[float]]  # mean, and mean size


class Compared(NamedTuple):
    """What came of making a run again."""

    name: str
    answer: Answer
    remark: str = ""

    def after(self, changed: bool) -> "Compared":
        """The same; if the code has changed since the stored run, the remark says so."""
        remarks = [self.remark, "code or libraries changed since" if changed else ""]
        return self._replace(remark="; ".join(filter(None, remarks)))


def digest(columns: Columns) -> Digest:
    """Of recorded columns, in their order."""
    values = np.asarray(columns["value"])
    finite = np.isfinite(values)
    keys = ["\n".join(map(str, np.asarray(columns[key]).tolist())) for key in KEYS]
    rows = hashlib.sha256("\0".join(keys).encode())
    rows.update(np.where(finite, "", values.astype(str)).astype("U4").tobytes())
    bits = rows.copy()
    bits.update(np.where(finite, values, 0).tobytes())
    names = np.asarray(columns["metric"])
    metrics = {}
    for name in sorted(set(names.tolist())):
        of = values[(names == name) & finite].astype(np.float64)
        means = (of.mean(), abs(of).mean()) if of.size else (0.0, 0.0)
        metrics[name] = [float(f"{mean:.9g}") for mean in means]
    return Digest(bits.hexdigest()[:20], rows.hexdigest()[:20], metrics)


def compare(name: str, stored: Digest, found: Digest) -> Compared:
    if found.bits == stored.bits:
        return Compared(name, "same bits")
    if found.rows != stored.rows:
        return Compared(name, "differs", "in what it records")
    apart = {
        metric: _apart(stored.metrics[metric], means) for metric, means in found.metrics.items()
    }
    metric = max(apart, key=lambda metric: apart[metric])
    if apart[metric] == 0:
        return Compared(name, "same to rounding", "every mean to nine digits")
    answer: Answer = "differs" if apart[metric] > RELATIVE else "same to rounding"
    was, now = stored.metrics[metric][0], found.metrics[metric][0]
    return Compared(name, answer, f"{metric}: {was:.9g} stored, {now:.9g} here")


def _apart(stored: list[float], found: list[float]) -> float:
    """How far the means are apart, as a share of their size."""
    far = max(abs(was - now) for was, now in zip(stored, found, strict=True))
    return max(far - ABSOLUTE, 0.0) / max(stored[1], found[1], ABSOLUTE)


def why_other_bits(environment: Mapping[str, str], able: Iterable[str]) -> str | None:
    """Why this process may round in another way than the stored runs did, or None."""
    if environment.get(SWITCH) == "native":
        return f"{SWITCH}=native lets the libraries choose the instruction set"
    if not {"avx2", "fma"} <= set(able):
        return "this processor lacks AVX2, which the stored runs were made with"
    if environment.get("MKL_CBWR") == "AUTO":
        return (
            "MKL's instruction set cannot be pinned on this processor because pfedrl/core/mkl.c is "
            "not compiled. Install a C compiler, then: pip install --no-deps -e ."
        )
    for name, value in (PINS | NUMBA).items():
        if environment.get(name) != value:
            return f"{name} is {environment.get(name)}, not {value}"
    return None


def of_experiments(project: Project) -> Iterator[Cell]:
    """The cells that the papers' experiments have at this scale."""
    for paper, spec in project.papers.items():
        for experiment in spec.experiments:
            if spec.reading_of(experiment) is not None:
                continue  # the paper's own settings stand for the algorithm
            if project.budget(project.scale(SCALE), paper, experiment) is None:
                continue  # it needs data, which not everyone has
            yield from cells(project, paper, experiment, SCALE)


def short_runs(project: Project) -> dict[str, Cell]:
    """By name: one cell of every algorithm and family, under each of the algorithm's switches.

    Where no experiment has such a cell, the algorithm is put on the family of another one. An
    algorithm that no experiment names has one cell, that of its nearest relative.
    """
    families: dict[str, Cell] = {}
    runnables: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in of_experiments(project):
        families.setdefault(cell.family_name, cell)
        runnables.setdefault((cell.algorithm, *_switches(cell)), {})[cell.family_name] = cell
    found = {}
    for (algorithm, *switches), own in runnables.items():
        for name, other in families.items():
            if (name == "") != ("" in own):
                continue
            any_cell = next(iter(own.values()))
            cell = own.get(name) or replace(any_cell, family=other.family, family_name=name)
            if cell.why_not() is None:
                found["-".join(filter(None, [algorithm, name, *switches]))] = cell
    relatives = [cell for own in runnables.values() for cell in own.values()]
    named = {name for name, *_ in runnables}
    for algorithm in sorted(components("algorithms").keys() - named):
        cell = in_place_of(relatives, algorithm)
        found["-".join(filter(None, [algorithm, cell.family_name, *_switches(cell)]))] = cell
    return found


def _switches(cell: Cell) -> list[str]:
    switches = [str(getattr(cell.runnable, name, "")) for name in SWITCHES]
    endless = getattr(cell.runnable, "local_steps", 0) == float("inf")
    return [*switches, "alone" if endless else ""]


def in_place_of(relatives: Iterable[Cell], name: str) -> Cell:
    """The cell of an algorithm, or of its nearest relative with the algorithm in its place: the
    same settings, and the algorithm's own at their defaults."""
    made, others = load("algorithms", name), list(relatives)
    for base in made.__mro__:
        for cell in others if issubclass(base, Algorithm) and base is not Algorithm else ():
            if isinstance(cell.runnable, base) and cell.why_not() is None:
                given = cell.runnable.model_dump(include=set(made.model_fields))
                runnable = validate(made, given, name)
                if runnable.skip(cell.family) is None:
                    return replace(cell, name=name, variant=name, algorithm=name, runnable=runnable)
    raise PfedrlError(
        f"{name}: no experiment runs an algorithm that it is derived from. Derive it from one that "
        "`pfedrl list algorithms` shows, or from the base of one."
    )


def measured(cell: Cell, seeds: range, curve_points: int = CURVE_POINTS) -> Columns:
    """The columns that a run of a cell records."""
    recorder = Recorder(seeds)
    draws = {} if cell.family is None else cell.family.draw(seeds)
    cell.runnable.run(seeds, cell.family, draws, recorder, Control(curve_points))
    if multiprocessing.active_children():
        await_workers()
    return recorder.columns()


def stored(project: Project) -> dict[str, dict[str, Any]]:
    """The digests in the project's file, by name of the short run; none where there is no file."""
    path = project.root / FILE
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        message = f"{FILE}: cannot be read ({error}): git restore {FILE}"
        raise PfedrlError(message, exit_code=BROKEN_ARTIFACT) from None


def chosen(project: Project, names: Iterable[str]) -> dict[str, Cell]:
    """The short runs of these algorithms, statements or names of runs; all where none is given."""
    runs = short_runs(project)
    wanted = list(names)
    known = {*runs, *(cell.algorithm for cell in runs.values())}
    for name in wanted:
        if name not in known:
            raise unknown("algorithm or short run", name, sorted(known))
    return {
        name: cell
        for name, cell in runs.items()
        if not wanted or name in wanted or cell.algorithm in wanted
    }


def verify(project: Project, names: Iterable[str] = ()) -> Iterator[Compared]:
    """Make the short runs again, one after the other."""
    known = stored(project)
    for name, cell in chosen(project, names).items():
        if name not in known:
            yield Compared(name, "nothing stored", f"store it: pfedrl verify --write {name}")
            continue
        kept = dict(known[name])
        changed = kept.pop("code") != run_code(cell, HELD)
        yield compare(name, Digest(**kept), digest(measured(cell, SEEDS))).after(changed)


def write(project: Project, names: Iterable[str] = ()) -> Iterator[str]:
    """Store the digests of short runs anew; without names, those of no run there is go."""
    wanted = list(names)
    kept = stored(project) if wanted else {}
    for name, cell in chosen(project, wanted).items():
        kept[name] = {"code": run_code(cell, HELD), **digest(measured(cell, SEEDS))._asdict()}
        yield name
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept)]
    write_text(project.root / FILE, "{\n" + ",\n".join(lines) + "\n}\n")


def summary(answers: Iterable[Answer], reason: str | None) -> str:
    """One line for all; with the reason where bits differ."""
    found = list(answers)
    kinds = get_args(Answer)
    counts = ", ".join(f"{found.count(kind)} {kind}" for kind in kinds if kind in found)
    rounded = "same to rounding" in found or "differs" in found
    return counts + (f" ({reason})" if rounded and reason else "")
