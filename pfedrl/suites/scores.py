"""Scores: 0 is the best control that learns nothing, 1 the ceiling, both on the same seed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pfedrl.analysis.labels import cell_label, sweep_text
from pfedrl.analysis.statistics import (
    BOOTSTRAP_SEED,
    LEVEL,
    interquartile_mean,
    paired_differences,
)
from pfedrl.analysis.summarise import last_points, with_pooled_agents
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Layer, Store, Values
from pfedrl.suites.runs import LAYERS, parts_of
from pfedrl.suites.suite import Suite, Task, cells_of

RESAMPLES = 1000

Point = tuple[tuple[str, float], ...]  # of a sweep
Finals = dict[tuple[str, int], np.ndarray]  # the last value by metric and agent: [seed]


class Ran(NamedTuple):
    """A cell with all of its seeds."""

    cell: Cell
    finals: Finals
    seconds: float  # of a core, a seed


Runs = dict[tuple[str, Point], Ran]  # of a variant, by task and point


class Place(NamedTuple):
    """A task at a point of its sweep, where scores are comparable."""

    task: str
    point: Point
    title: str
    spread: float | None


@dataclass(frozen=True)
class Entry:
    """One algorithm at all places of a suite, or a control."""

    name: str
    label: str
    algorithm: str
    control: bool
    scores: np.ndarray  # [place, seed]
    agents: list[np.ndarray]  # at each place, [agent, seed]; empty where only a mean is recorded
    newcomers: np.ndarray | None  # [place, seed]
    megabytes: float  # that an agent sends in a seed, on average over places
    seconds: float  # of a core in a seed, over all places

    @property
    def by_seed(self) -> np.ndarray:
        """A seed's score over all places."""
        return self.scores.mean(axis=0)

    @property
    def worst(self) -> float:
        """The score of the worst agent, on average over places and seeds."""
        lowest = [agents.min(axis=0).mean() for agents in self.agents if len(agents)]
        return float(np.mean(lowest)) if lowest else float("nan")


def places(suite: Suite) -> list[Place]:
    found = []
    for name, task in suite.tasks.items():
        points: list[Point] = [()]
        for key, values in task.sweep.items():
            swept = key.rpartition(".")[2]
            points = [(*point, (swept, float(value))) for point in points for value in values]
        for point in points:
            spread = point[0][1] if point else task.spread
            told = ", ".join(f"{suite.spread} {sweep_text(value)}" for _, value in point)
            found.append(Place(name, point, ", ".join(filter(None, [task.title, told])), spread))
    return found


def finals(values: Values) -> Finals:
    """The last value of every metric: of each agent, and of their mean.

    In single precision, as committed runs are: else a run made here would never tie with one.
    """
    points = with_pooled_agents({
        point: line.astype(np.float32).astype(np.float64) for point, line in values.items()
    })  # fmt: skip
    return {(metric, agent): points[metric, axis, agent, at]
            for metric, axis, agent, at in last_points(points)}  # fmt: skip


def entries(
    project: Project, suite: Suite, stores: Mapping[str, Store], seeds: Sequence[int],
    layers: tuple[Layer, ...],
) -> Iterator[Entry | str]:  # fmt: skip
    """Everybody with all seeds at all places; of others, the reason why not, behind their name.

    `stores` has the variants whose runs are not in the project's own store.
    """
    own, where = Store(project.root), places(suite)
    ran: dict[str, Runs] = {}
    lacking: dict[str, str] = {}
    labels: dict[str, str] = {}
    for cell in cells_of(project, suite):
        said = cell.settings()["algorithm"]
        labels.setdefault(
            cell.variant, cell_label(suite.tasks[cell.experiment], cell.variant, said, {})
        )
        store = stores.get(cell.variant, own)
        parts, missing = parts_of(store, cell, seeds, layers)
        if missing:
            count = f"{len(seeds) - len(missing):,} of {len(seeds):,} seeds"
            lacking[cell.variant] = cell.why_not() or f"not run ({count})"
            continue
        values, files = store.read(cell, parts)
        seconds = sum(
            facts["cpu_seconds"] * len(part.take) / len(part.holds)
            for facts, part in zip(files, parts, strict=True)
        ) / len(seeds)
        point = tuple(sorted(cell.sweep.items()))
        ran.setdefault(cell.variant, {})[cell.experiment, point] = Ran(
            cell, finals(values), seconds
        )
    for variant in suite.variants:
        if variant in lacking:
            yield f"{labels[variant]}: {lacking[variant]}"
        elif lost := next((name for name in suite.controls if name in lacking), None):
            yield f"{labels[variant]}: its control {labels[lost]} was {lacking[lost]}"
        else:
            yield _entry(suite, where, ran[variant], ran, labels[variant])


def _at(ran: Runs, place: Place) -> Ran:
    """A variant's run at a place; a control that lacks the swept key is the same everywhere."""
    for (task, point), one in ran.items():
        if task == place.task and set(point) <= set(place.point):
            return one
    raise KeyError(place)


def _entry(
    suite: Suite, where: list[Place], own: Runs, everybody: dict[str, Runs], label: str
) -> Entry:
    """A variant's scores at all places."""
    scores, agents, new, sent, seconds = [], [], [], [], []
    for place in where:
        task, ran = suite.tasks[place.task], _at(own, place)
        controls = {name: _at(everybody[name], place).finals for name in task.controls}
        scores.append(_scored(task, controls, ran.finals, task.score))
        of_agents = sorted(a for m, a in ran.finals if m == task.score and a != ALL_AGENTS)
        known = [a for a in of_agents if all((task.score, a) in one for one in controls.values())]
        agents.append(np.array([_scored(task, controls, ran.finals, task.score, a) for a in known]))
        if task.newcomers:
            new.append(_scored(task, controls, ran.finals, task.newcomers))
        sent.append(ran.finals.get(("megabytes_sent", ALL_AGENTS), np.zeros(1)).mean())
        seconds.append(ran.seconds)
    cell = next(iter(own.values())).cell
    return Entry(
        cell.variant, label, cell.algorithm, cell.variant in suite.controls, np.stack(scores),
        agents, np.stack(new) if len(new) == len(where) else None, float(np.mean(sent)),
        float(np.sum(seconds)),
    )  # fmt: skip


def _scored(
    task: Task, controls: dict[str, Finals], own: Finals, metric: str, agent: int = ALL_AGENTS
) -> np.ndarray:
    """Scores by seed; what diverged is at the floor."""
    floor = np.max([controls[name][metric, agent] for name in task.floor], axis=0)
    top = task.ceiling
    ceiling = controls[top][metric, agent] if isinstance(top, str) else top
    with np.errstate(invalid="ignore", over="ignore"):
        found = (own[metric, agent] - floor) / (ceiling - floor)
    return np.where(np.isfinite(found), found, 0.0)


def resampled(ranked: list[Entry]) -> np.ndarray:
    """Overall scores, [resample, entry].

    Seeds are drawn at each place, the same for everybody, so that the pairing is kept.
    """
    scores = np.stack([one.scores for one in ranked])
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    found = np.empty((RESAMPLES, len(ranked)))
    for row in found:
        drawn = generator.integers(0, scores.shape[2], scores.shape[1:])
        chosen = np.take_along_axis(scores, drawn[None], axis=2)
        row[:] = interquartile_mean(chosen).mean(axis=1)
    return found


def overall(one: Entry) -> float:
    """The interquartile mean over seeds at each place, on average over places: pooled, hard places
    would be cut off as outliers."""
    return float(interquartile_mean(one.scores).mean())


def middle(values: np.ndarray) -> tuple[float, float]:
    """The interval that holds most of the resampled values."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def rank_intervals(means: np.ndarray) -> list[tuple[int, int]]:
    """The ranks that resampled means, [resample, entry], give each entry; 1 is the best."""
    from scipy.stats import rankdata

    ranks = rankdata(-means, axis=1, method="min")
    return [(round(low), round(high)) for low, high in map(middle, ranks.T)]


def won_and_lost(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """Seeds on which the first is above, and below."""
    apart = paired_differences(first, second)
    return int((apart > 0).sum()), int((apart < 0).sum())


def improvement(first: Entry, second: Entry) -> float:
    """The probability that the first is above the second, on one seed at one place; ties half."""
    won, lost = won_and_lost(first.scores, second.scores)
    return 0.5 + (won - lost) / (2 * first.scores.size)


def read_entries(
    project: Project,
    suite: Suite,
    stores: Mapping[str, Store] | None = None,
    seeds: Sequence[int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
) -> tuple[list[Entry], list[str]]:
    """Everybody that was run on the suite's seeds, or on others; and why the rest was not."""
    found = list(entries(project, suite, stores or {}, seeds or range(suite.seeds), layers))
    return ([one for one in found if isinstance(one, Entry)],
            [one for one in found if isinstance(one, str)])  # fmt: skip


def learners(found: Iterable[Entry]) -> list[Entry]:
    """Those that compete, the best first."""
    return sorted((one for one in found if not one.control), key=lambda one: -overall(one))
