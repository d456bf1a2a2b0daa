"""Two algorithms on one family, by the published runs: plain data, for a console or a page.

Differences are by seed, the first algorithm minus the second, of final values averaged over agents.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from pfedrl.analysis.cuts import cuts
from pfedrl.analysis.labels import cell_label, swept_name
from pfedrl.analysis.output import seeds
from pfedrl.analysis.statistics import effect, paired_differences
from pfedrl.analysis.summarise import final_values
from pfedrl.analysis.tables import sweep_text
from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.metrics import PREFERRED, better_way, possible, words_of
from pfedrl.core.registry import load, load_runnable
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.costs import LENGTHS
from pfedrl.pipeline.paper import Experiment
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.served import Served, served
from pfedrl.pipeline.store import Store

PHASES = {"return_average": "during training", "greedy_return": "after training"}

Pair = tuple[Served, Served]
READ: dict[tuple[Path, str, int], dict[str, np.ndarray]] = {}  # what was read of runs


@dataclass(frozen=True)
class Difference:
    """A metric's mean difference by seed with its 95% t interval over seeds, not corrected."""

    metric: str
    words: str
    better: int  # 1: higher values are better, -1: lower ones, 0: neither
    first: float  # mean of the first algorithm
    second: float
    mean: float
    low: float
    high: float
    won: int  # seeds in which the first is better or, where neither way is better, higher
    lost: int
    tied: int
    missing: int  # seeds in which one of them has no value
    width: float  # from the least to the most that is possible; infinite where not bounded

    @property
    def seeds(self) -> int:
        return self.won + self.lost + self.tied

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero out; a single seed has none."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Reading:
    """The main comparison under another reading of what the paper leaves open."""

    words: str
    budget: str
    difference: Difference | None  # None where it was not run with both


@dataclass(frozen=True)
class Meeting:
    """Two cells of one experiment that share their seeds."""

    paper: str
    experiment: str
    title: str
    point: str  # of the family's sweep
    first: str  # labels
    second: str
    budget: str
    whole: bool  # at the experiment's own budget
    seeds: int
    runs: Pair = field(repr=False, compare=False)

    @property
    def cells(self) -> tuple[Cell, Cell]:
        return self.runs[0].cell, self.runs[1].cell


def compare(project: Project, first: str, second: str, on: str) -> list[Meeting]:
    """Where both were run, the fullest budget and the most seeds first; never empty."""
    places = places_of(project, on)
    names = {one: known_as(project, one) for one in (first, second)}
    found = [meeting for place in places for meeting in _meetings(project, *place, first, second)]
    if not found:
        raise _never_met(project, names[first], names[second], first, second, on)
    return sorted(found, key=lambda one: (not one.whole, -one.seeds))


def plain(name: str) -> str:
    """A name without case and punctuation: PFedDQN-Rep and pfed_dqn_rep are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def places_of(project: Project, on: str) -> list[tuple[str, str]]:
    """The experiments on a family, or of that name; those of readings only by their own name."""
    every = [(paper, name) for paper, page in project.papers.items() for name in page.experiments]
    families = {place: _family(project, *place) for place in every}
    wanted = plain(on)
    found = [
        (paper, name)
        for paper, name in every
        if wanted in map(plain, families[paper, name])
        and project.paper(paper).reading_of(name) is None
    ]
    found = found or [
        place for place in every if wanted in (plain(place[1]), plain("".join(place)))
    ]
    if not found:
        known = {name for names in families.values() for name in names[:1]}
        raise unknown("family or experiment", on, known | {name for _, name in every})
    return found


def _family(project: Project, paper: str, experiment: str) -> tuple[str, ...]:
    """The name and the label of an experiment's family."""
    given = project.experiment(paper, experiment).family
    return () if given is None else (given["name"], load("envs", given["name"]).label)


def known_as(project: Project, name: str) -> str:
    """The label of a named algorithm; an unknown name is an error with the nearest."""
    known: dict[str, str] = {}
    for page in project.papers.values():
        for spec in page.experiments.values():
            for variant, given in spec.variants.items():
                names = _names(spec, variant, given.get("algorithm", variant))
                *_, label, own = names
                for one in names:
                    known.setdefault(one, own if one == own else label)
    matching = [label for one, label in known.items() if plain(one) == plain(name)]
    if not matching:
        raise unknown("algorithm", name, filter(None, known))
    return matching[0]


def _named(project: Project, cell: Cell, name: str) -> bool:
    """Whether a cell is meant by a name: its own, its variant's, its algorithm's, or a label."""
    spec = project.experiment(cell.paper, cell.experiment)
    names = (cell.name, *_names(spec, cell.variant, cell.algorithm))
    return plain(name) in map(plain, names)


def _names(spec: Experiment, variant: str, algorithm: str) -> tuple[str, str, str, str]:
    """A variant's name, its algorithm's name and label, and its own label, which may be empty."""
    label = load_runnable(algorithm).label
    return variant, algorithm.rpartition("/")[2], label, spec.labels.get(variant, "")


def _at_one_point(one: Cell, other: Cell) -> bool:
    """Whether two cells agree in everything that is swept of both."""
    return all(other.sweep.get(key, value) == value for key, value in one.sweep.items())


def _exchange(cell: Cell) -> tuple[Any, ...]:
    """How often and along which graph agents exchange, where an algorithm has such settings."""
    return tuple(getattr(cell.runnable, name, None) for name in ("local_steps", "graph"))


def _meetings(
    project: Project, paper: str, experiment: str, first: str, second: str
) -> Iterator[Meeting]:
    """The cells of both at the same points of the sweep; with equal exchanges, if any are."""
    known = _run(project, paper, experiment).values()
    ours, theirs = ([run for run in known if _named(project, run.cell, n)] for n in (first, second))
    pairs = [
        (one, other)
        for one, other in product(ours, theirs)
        if one is not other and _at_one_point(one.cell, other.cell)
    ]
    alike = [(a, b) for a, b in pairs if _exchange(a.cell) == _exchange(b.cell)]
    for pair in alike or pairs:
        yield _meeting(project, pair)


def _run(project: Project, paper: str, experiment: str) -> dict[str, Served]:
    """The cells of an experiment that the record has."""
    if project.budget(project.scale(RECORD), paper, experiment) is None:
        return {}
    every = served(project, paper, experiment, RECORD)
    return {one.cell.name: one for one in every if one.why_not is None}


def all_meetings(project: Project, paper: str, experiment: str) -> Iterator[Meeting]:
    """Every two cells of an experiment at the same point; on one graph, where both are on one."""
    for pair in combinations(_run(project, paper, experiment).values(), 2):
        graphs = {getattr(run.cell.runnable, "graph", None) for run in pair} - {None}
        if len(graphs) < 2 and _at_one_point(pair[0].cell, pair[1].cell):
            yield _meeting(project, pair)


def turned(meeting: Meeting) -> Meeting:
    """The same with the second algorithm first."""
    runs = meeting.runs[::-1]
    return replace(meeting, first=meeting.second, second=meeting.first, runs=runs)


def reversed_difference(one: Difference) -> Difference:
    """The second algorithm minus the first."""
    return replace(
        one, first=one.second, second=one.first, mean=-one.mean, low=-one.high, high=-one.low,
        won=one.lost, lost=one.won,
    )  # fmt: skip


def _meeting(project: Project, runs: Pair) -> Meeting:
    pair = [run.cell for run in runs]
    paper, experiment, sweep = pair[0].paper, pair[0].experiment, pair[0].sweep
    spec = project.experiment(paper, experiment)
    swept = [key.split(".") for key in spec.sweep]
    point = (key for of, key in swept if of == "family" and key in sweep)
    own = [key for of, key in swept if of == "algorithm"]
    labels = [
        cell_label(
            spec, cell.variant, cell.settings()["algorithm"],
            {key: cell.sweep[key] for key in own if key in cell.sweep},
        )
        for cell in pair
    ]  # fmt: skip
    cut = cuts(project, paper, experiment, RECORD, [cell.name for cell in pair])
    return Meeting(
        paper, experiment, spec.title,
        ", ".join(f"{swept_name(key)} = {sweep_text(sweep[key])}" for key in point),
        labels[0], labels[1], _budget(pair, cut), not cut, len(pair[0].seeds), runs,
    )  # fmt: skip


def _budget(pair: Iterable[Cell], cut: list[str]) -> str:
    """How long the trainings are, and what was cut of the experiment's own settings."""
    counts = [{name: getattr(cell.runnable, name, 0) for name in LENGTHS} for cell in pair]
    first = [next(((name, count) for name, count in one.items() if count), None) for one in counts]
    lengths = dict.fromkeys(f"{own[1]:,} {own[0].replace('_', ' ')}" for own in first if own)
    said = "the experiment's own budget" if not cut else f"shortened: {', '.join(cut)}"
    return f"{' and '.join(lengths)} ({said})" if lengths else said


def differences(project: Project, meeting: Meeting) -> list[Difference]:
    """Every metric that both have; those of `main` first, those without a better way last."""
    ours, theirs = values_of(project, meeting)
    family = meeting.cells[0].settings()["family"]
    chosen = project.experiment(meeting.paper, meeting.experiment).comparison
    ways = {metric: better_way(metric) for metric in ours if metric in theirs}
    if chosen.metric in ways:
        ways[chosen.metric] = -1 if chosen.best == "lowest" else 1
    first = main(project, meeting, ways)
    rest = sorted(ways.keys() - set(first), key=lambda m: (not ways[m], m.startswith("adapt_"), m))
    return [
        difference(metric, ways[metric], ours[metric], theirs[metric], possible(metric, family))
        for metric in [*first, *rest]
    ]


def values_of(project: Project, meeting: Meeting) -> list[dict[str, np.ndarray]]:
    """The final values of both by metric, one a seed; a run is read once."""
    store, found = Store(project.root), []
    for run in meeting.runs:
        key = (project.root, run.cell.folder, len(run.cell.seeds))
        if key not in READ:
            READ[key] = final_values(store.read(run.cell, run.parts)[0])
        found.append(READ[key])
    return found


def main(project: Project, meeting: Meeting, measured: Iterable[str]) -> list[str]:
    """What one sentence says: returns during and after training, or what the experiment chooses."""
    chosen = project.experiment(meeting.paper, meeting.experiment).comparison.metric
    if set(PHASES) <= set(measured) and chosen in (None, *PHASES):
        return list(PHASES)
    return [metric for metric in (chosen, *PREFERRED) if metric in set(measured)][:1]


def difference(
    metric: str, better: int, ours: np.ndarray, theirs: np.ndarray, bounds: tuple[float, float]
) -> Difference:
    """One metric's difference by seed; seeds without a value in either are counted as missing."""
    kept = np.isfinite(ours) & np.isfinite(theirs)
    by_seed = paired_differences(ours[kept], theirs[kept])
    numbers = (np.nan,) * 5
    if kept.any():
        found = effect(by_seed)
        means = float(ours[kept].mean()), float(theirs[kept].mean())
        numbers = (*means, found.mean, found.low, found.high)
    ahead = by_seed * (better or 1)
    return Difference(
        metric, words_of(metric), better, *numbers, int((ahead > 0).sum()), int((ahead < 0).sum()),
        int((ahead == 0).sum()), int((~kept).sum()), bounds[1] - bounds[0],
    )  # fmt: skip


def readings(project: Project, meeting: Meeting, metric: str) -> list[Reading]:
    """A metric's difference under each reading that changes something of it."""
    found = []
    one, other = meeting.cells
    for reading in project.paper(meeting.paper).readings:
        looked_at = reading.metrics.get(metric, metric)
        named = [reading.cells.get(cell.name, cell.name) for cell in meeting.cells]
        place = reading.runs(meeting.experiment)
        if place == meeting.experiment:
            changed = (looked_at, *named) != (metric, one.name, other.name)
        else:
            run_otherwise = {one.variant, other.variant} & {*reading.changed}
            changed = metric.startswith(reading.changes) and bool(run_otherwise)
        if changed:
            found.append(_under(project, meeting, reading.words, place, looked_at, named))
    return found


def _under(
    project: Project, meeting: Meeting, words: str, place: str, metric: str, named: list[str]
) -> Reading:
    known = _run(project, meeting.paper, place)
    if not {*named} <= known.keys():
        return Reading(words, "", None)
    read = _meeting(project, (known[named[0]], known[named[1]]))
    values = {one.metric: one for one in differences(project, read)}
    return Reading(words, f"{seeds(read.seeds)}, {read.budget}", values.get(metric))


def _never_met(
    project: Project, one: str, other: str, first: str, second: str, on: str
) -> PfedrlError:
    """The error for two that no published experiment on a family has, with where they met."""
    every = [(paper, name) for paper, page in project.papers.items() for name in page.experiments]
    met = {
        family[1]
        for place in every
        if (family := _family(project, *place)) and any(_meetings(project, *place, first, second))
    }
    where = f"They met on: {', '.join(sorted(met))}." if met else "They never met on any family."
    return PfedrlError(f"no published experiment on '{on}' has both {one} and {other}. {where}")
