"""From the runs of one experiment to its statistics and the final values that tests run on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pfedrl.analysis.output import listed
from pfedrl.analysis.statistics import (
    ENOUGH,
    bootstrap_interquartile_mean,
    interquartile_mean,
    mean_interval,
    standard_error,
)
from pfedrl.analysis.summaries import FEW, paths, summaries_folder
from pfedrl.core.errors import PfedrlError
from pfedrl.core.metrics import possible
from pfedrl.core.parquet import Facts, write_table
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import Served, served
from pfedrl.pipeline.store import Point, Store, Values

DIVERGED = "diverged"  # the metric, 1 where an agent's training has diverged
NUMBERS = ("mean", "se", "median", "iqm", "low", "high", "iqm_low", "iqm_high")


class Read(NamedTuple):
    """A cell with the values of all its seeds, and the facts of the file of each part."""

    served: Served
    values: Values
    files: list[Facts]


def summarise(
    project: Project, paper: str, experiment: str, scale: str, folder: Path | None = None
) -> None:
    """Read the runs of an experiment, one cell at a time; write its statistics and final values.

    A cell without all of its seeds is left out, with the reason.
    """
    every = served(project, paper, experiment, scale)
    whole = [one for one in every if one.why_not is None]
    if not whole:
        reasons = "; ".join(sorted({str(one.why_not) for one in every}))
        raise PfedrlError(f"{paper}/{experiment}: there are no runs to summarise ({reasons}).")
    store = Store(project.root)
    read = (Read(one, *store.read(one.cell, one.parts)) for one in whole)
    not_run = {one.cell.name: one.why_not for one in every if one.why_not is not None}
    sweeps = sorted({key for one in every for key in one.cell.sweep})
    places = paths(folder or summaries_folder(project, scale), paper, experiment)
    write_summary(places, read, sweeps, not_run)


def write_summary(
    places: Iterable[Path],
    read: Iterable[Read],
    sweeps: list[str],
    not_run: Mapping[str, str | None],
) -> None:
    """Both files of a summary."""
    statistics, finals, whole, facts = [], [], [], []
    for one, values, files in read:
        points, names = with_pooled_agents(values), _names(one.cell, sweeps)
        statistics.append(_statistics_rows(points, names, one.cell.settings()["family"]))
        finals.append(_final_rows(points, names, one.cell.seeds))
        whole.append(one)
        facts.append(files)
    kept = _facts(whole, facts, sweeps) | {"not_run": dict(not_run)}
    for path, tables in zip(places, (statistics, finals), strict=True):
        write_table(path, pa.concat_tables(tables).unify_dictionaries(), kept)


def with_pooled_agents(points: dict[Point, np.ndarray]) -> dict[Point, np.ndarray]:
    """The points and, where they are agents', the mean over agents within each seed."""
    groups: dict[tuple[str, str, int], list[np.ndarray]] = defaultdict(list)
    for (metric, axis, agent, at), values in points.items():
        if agent != ALL_AGENTS:
            groups[metric, axis, at].append(values)
    with np.errstate(invalid="ignore"):  # an agent without a value leaves its seed without one
        pooled = {
            (metric, axis, ALL_AGENTS, at): np.mean(agents, axis=0)
            for (metric, axis, at), agents in groups.items()
        }
    return dict(sorted((pooled | points).items()))


def final_values(values: dict[Point, np.ndarray]) -> dict[str, np.ndarray]:
    """The last value of every metric by seed, agents averaged."""
    points = with_pooled_agents(values)
    return {point[0]: points[point] for point in last_points(points) if point[2] == ALL_AGENTS}


def last_points(points: Iterable[Point]) -> set[Point]:
    """The last point along the axis for every metric and agent."""
    last: dict[tuple[str, str, int], int] = {}
    for metric, axis, agent, at in points:
        last[metric, axis, agent] = max(at, last.get((metric, axis, agent), at))
    return {(metric, axis, agent, at) for (metric, axis, agent), at in last.items()}


def diverged_seeds(points: dict[Point, np.ndarray], seeds: int) -> dict[str, np.ndarray]:
    """The seeds whose runs recorded that they diverged: by the prefix of a metric's name, for
    adapting to a new environment is another training and has a record of its own."""
    found: dict[str, np.ndarray] = {}
    for (metric, *_), values in points.items():
        if metric.endswith(DIVERGED):
            prefix = metric.removesuffix(DIVERGED)
            found[prefix] = found.get(prefix, np.zeros(seeds, np.bool_)) | (values > 0)
    return found


def describe(values: np.ndarray, diverged: np.ndarray) -> dict[str, np.ndarray]:
    """Statistics of [point, seed]; seeds without a value at a point are left out there.

    They are counted as missing, those of them that diverged once more as that.
    """
    finite = np.isfinite(values)
    result = {name: np.full(len(values), np.nan) for name in NUMBERS}

    def fill(rows: np.ndarray, complete: np.ndarray) -> None:
        result["mean"][rows] = complete.mean(axis=-1)
        result["se"][rows] = standard_error(complete)
        result["median"][rows] = np.median(complete, axis=-1)
        result["iqm"][rows] = interquartile_mean(complete)
        result["low"][rows], result["high"][rows] = mean_interval(complete)

    whole = np.flatnonzero(finite.all(axis=1))
    if len(whole):
        fill(whole, values[whole])
    for row in np.flatnonzero(~finite.all(axis=1) & finite.any(axis=1)):
        fill(np.array([row]), values[row, finite[row]][None])
    return result | {
        "missing": (~finite).sum(axis=1),
        "diverged": (~finite & diverged).sum(axis=1),
    }


def _statistics_rows(
    points: dict[Point, np.ndarray], names: dict[str, pa.Scalar], family: dict[str, Any] | None
) -> pa.Table:
    keys = list(points)
    matrix = np.stack([points[key] for key in keys])
    ends = diverged_seeds(points, matrix.shape[1])
    none = np.zeros(matrix.shape[1], np.bool_)
    diverged = [
        np.any([none, *(ends[prefix] for prefix in ends if metric.startswith(prefix))], axis=0)
        for metric, *_ in keys
    ]
    numbers = describe(matrix, np.stack(diverged))
    least, most = np.transpose([possible(metric, family) for metric, *_ in keys])
    for name in ("low", "high"):
        numbers[name] = np.clip(numbers[name], least, most)
    last = last_points(keys)
    for row, key in enumerate(keys):
        values = matrix[row][np.isfinite(matrix[row])]
        if key in last and key[2] == ALL_AGENTS and len(values) >= ENOUGH:
            low, high = bootstrap_interquartile_mean(values)
            numbers["iqm_low"][row], numbers["iqm_high"][row] = low, high
    metric, axis, agent, at = zip(*keys, strict=True)
    by_seed = list(matrix) if matrix.shape[1] <= FEW else [None] * len(keys)
    columns = _repeat(names, len(keys)) | {
        "agent": pa.array(agent, pa.int16()),
        "axis": pa.array(axis).dictionary_encode(),
        "at": pa.array(at, pa.int64()),
        "metric": pa.array(metric).dictionary_encode(),
        **{name: pa.array(numbers[name]) for name in NUMBERS},
        "seeds": pa.array(np.full(len(keys), matrix.shape[1]), pa.int32()),
        **{name: pa.array(numbers[name], pa.int32()) for name in ("missing", "diverged")},
        "by_seed": pa.array(by_seed, pa.list_(pa.field("element", pa.float64()))),
    }
    return pa.table(columns)


def _final_rows(
    points: dict[Point, np.ndarray], names: dict[str, pa.Scalar], seeds: range
) -> pa.Table:
    """The last value of every metric, of every seed and agent, and of the agents' mean.

    Of a curve there is the mean over its second half too, as <metric>_late: one last look is noisy.
    """
    last = sorted(last_points(points))
    late = _late_means(points, last)
    points, last = points | late, sorted([*last, *late])
    if len({(metric, agent) for metric, _, agent, _ in last}) < len(last):
        raise PfedrlError(f"cell '{names['cell']}' measures a metric along two axes.")
    metrics = sorted({metric for metric, *_ in last})
    codes = [metrics.index(metric) for metric, *_ in last]
    agents = [agent for _, _, agent, _ in last]
    columns = _repeat(names, len(last) * len(seeds)) | {
        "seed": pa.array(np.tile(np.arange(seeds.start, seeds.stop), len(last)), pa.int32()),
        "agent": pa.array(np.repeat(agents, len(seeds)), pa.int16()),
        "metric": pa.DictionaryArray.from_arrays(
            np.repeat(np.array(codes, np.int16), len(seeds)), metrics
        ),
        "value": pa.array(np.concatenate([points[point] for point in last])),
    }
    return pa.table(columns)


def _late_means(points: dict[Point, np.ndarray], last: Iterable[Point]) -> dict[Point, np.ndarray]:
    """The mean over the second half of every curve, of each agent and of the agents' mean."""
    curves: dict[tuple[str, str, int], list[Point]] = defaultdict(list)
    for point in points:
        curves[point[:3]].append(point)
    found = {}
    for metric, axis, agent, at in last:
        curve = curves[metric, axis, agent]
        if len(curve) >= 4:
            late = [points[p] for p in curve if 2 * p[3] >= at]
            found[f"{metric}_late", axis, agent, at] = np.mean(late, axis=0)
    return found


def _names(cell: Cell, sweeps: list[str]) -> dict[str, pa.Scalar]:
    """What is the same in every row of a cell; a swept key that a control lacks is empty."""
    names = {
        "experiment": cell.experiment,
        "cell": cell.name,
        "variant": cell.variant,
        "algorithm": cell.algorithm,
        "family": cell.family_name,
    }
    return {key: pa.scalar(value) for key, value in names.items()} | {
        key: pa.scalar(cell.sweep.get(key), pa.float64()) for key in sweeps
    }


def _repeat(names: dict[str, pa.Scalar], rows: int) -> dict[str, pa.Array]:
    code = np.zeros(rows, np.int16)
    return {
        key: pa.DictionaryArray.from_arrays(code, pa.array([value]))
        if pa.types.is_string(value.type)
        else pa.repeat(value, rows)
        for key, value in names.items()
    }


def _facts(
    whole: list[Served], files: list[list[dict[str, Any]]], sweeps: list[str]
) -> dict[str, Any]:
    """Where the numbers came from: the union of the facts about the runs."""
    runs = [facts for found in files for facts in found]
    first = whole[0].cell
    described = {}
    for one, found in zip(whole, files, strict=True):
        seconds = [
            len(part.take) / len(part.holds) * facts["cpu_seconds"]
            for part, facts in zip(one.parts, found, strict=True)
        ]
        described[one.cell.name] = {
            "seeds": [one.cell.seeds.start, one.cell.seeds.stop],
            "variant": one.cell.variant,
            "settings": one.cell.settings(),
            "cpu_seconds": round(sum(seconds), 3),
        }
    return {
        "paper": first.paper,
        "experiment": first.experiment,
        "budget": first.budget.called,
        "sweeps": sweeps,
        "commits": sorted({facts["commit"] for facts in runs}),
        "origins": _origins(whole, files),
        "versions": listed(pair for facts in runs for pair in facts["versions"].items()),
        "cpu_seconds": round(sum(cell["cpu_seconds"] for cell in described.values()), 3),
        "peak_memory_mb": max(facts["peak_memory_mb"] for facts in runs),
        "cells": described,
        "runs": sorted({part.path.as_posix() for one in whole for part in one.parts}),
    }


def _origins(whole: list[Served], files: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Which seeds came from which commit and processor, with the cells that share them."""
    shared: dict[tuple[int, int, str, str], list[str]] = {}
    for one, found in zip(whole, files, strict=True):
        spans: list[tuple[int, int, str, str]] = []
        for part, facts in zip(one.parts, found, strict=True):
            start, source = part.take.start, (facts["commit"], facts.get("processor", ""))
            if spans and spans[-1][1:] == (start, *source):
                start = spans.pop()[0]
            spans.append((start, part.take.stop, *source))
        for span in spans:
            shared.setdefault(span, []).append(one.cell.name)
    return [
        {"seeds": [start, stop], "cells": names, "commit": commit, "processor": processor}
        for (start, stop, commit, processor), names in sorted(shared.items())
    ]
