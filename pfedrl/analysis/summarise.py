"""From the runs of one experiment to its statistics and the final values that tests run on."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pfedrl.analysis.origins import origins
from pfedrl.analysis.statistics import (
    ENOUGH,
    bootstrap_interquartile_mean,
    interquartile_mean,
    mean_interval,
    standard_error,
)
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.metrics import possible
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.core.seal import sealed
from pfedrl.pipeline.artifact import KEY, read_facts, read_run

Point = tuple[str, str, int, int]  # metric, axis, agent, at: what one row of statistics describes
DIVERGED = "diverged"  # the metric, 1 where an agent's training has diverged
NUMBERS = ("mean", "se", "median", "iqm", "low", "high", "iqm_low", "iqm_high")


@dataclass(frozen=True)
class CellRuns:
    """The runs of one cell, ordered by seeds."""

    paths: list[Path]
    facts: list[dict[str, Any]]

    @property
    def first(self) -> dict[str, Any]:
        return self.facts[0]

    @property
    def seeds(self) -> range:
        return range(self.first["seeds"][0], self.facts[-1]["seeds"][1])


def rejected(path: Path, reason: str, remedy: str = "") -> PfedrlError:
    remedy = remedy or f"Rebuild it: rm {path} && snakemake --cores all {path}"
    return PfedrlError(f"{path}: {reason}. {remedy}", exit_code=BROKEN_ARTIFACT)


def summarise(runs: list[Path], statistics_path: Path, finals_path: Path) -> None:
    """Read every run of an experiment, one at a time; write its statistics and final values."""
    if not runs:
        raise PfedrlError(f"{statistics_path}: there are no runs to summarise.")
    cells = gather(runs)
    sweeps = sorted({key for cell in cells for key in cell.first["sweep"]})
    statistics, finals = [], []
    for cell in cells:
        points = with_pooled_agents(read_cell(cell))
        names = _names(cell, sweeps)
        statistics.append(_statistics_rows(points, names, cell.first["settings"]["family"]))
        finals.append(_final_rows(points, names, cell.seeds))
    facts = _facts(cells, sweeps)
    for path, tables in ((statistics_path, statistics), (finals_path, finals)):
        table = pa.concat_tables(tables).unify_dictionaries()
        kept = json.dumps(sealed(facts, table.schema), sort_keys=True)
        table = table.replace_schema_metadata({KEY: kept.encode()})
        with atomic_write(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def gather(runs: Iterable[Path]) -> list[CellRuns]:
    """Runs by cell; a gap or an overlap of seeds, or blocks that disagree, is an error."""
    found: dict[str, list[tuple[dict[str, Any], Path]]] = defaultdict(list)
    experiment = None
    for path in runs:
        facts = read_facts(path)
        experiment = experiment or facts["experiment"]
        if facts["experiment"] != experiment:
            raise rejected(path, f"it belongs to '{facts['experiment']}', not to '{experiment}'")
        found[facts["cell"]].append((facts, path))
    cells = []
    for name, blocks in found.items():
        blocks.sort(key=lambda block: block[0]["seeds"])
        for (before, _), (facts, path) in pairwise(blocks):
            expected, begins = before["seeds"][1], facts["seeds"][0]
            if begins != expected:
                wrong = "are missing" if begins > expected else "are there twice"
                span = _span(range(*sorted((expected, begins))))
                raise rejected(path, f"of cell '{name}', seeds {span} {wrong}")
            if facts["settings"] != before["settings"]:
                raise rejected(path, f"its settings are not those of the earlier seeds of '{name}'")
        cells.append(CellRuns([path for _, path in blocks], [facts for facts, _ in blocks]))
    for one, other in pairwise(cells):
        if one.seeds != other.seeds:
            raise rejected(
                other.paths[0],
                f"cell '{other.first['cell']}' has seeds {_span(other.seeds)}, "
                f"'{one.first['cell']}' has {_span(one.seeds)}",
                "All cells of an experiment need the same seeds: run those that are missing "
                "(pfedrl run), or remove what the others do not have.",
            )
    return cells


def _span(seeds: range) -> str:
    return f"{seeds.start}-{seeds.stop}"


def read_cell(cell: CellRuns) -> dict[Point, np.ndarray]:
    """Each point's values, one a seed, in the order of seeds."""
    blocks = [
        _read_block(path, range(*facts["seeds"]))
        for path, facts in zip(cell.paths, cell.facts, strict=True)
    ]
    for path, block in zip(cell.paths, blocks, strict=True):
        if block.keys() != blocks[0].keys():
            raise rejected(path, "it was not measured at the same points as the earlier seeds")
    return {point: np.concatenate([block[point] for block in blocks]) for point in blocks[0]}


def _read_block(path: Path, seeds: range) -> dict[Point, np.ndarray]:
    """One file as a value a seed at each point, without sorting rows or comparing strings."""
    table, _ = read_run(path)
    table = table.unify_dictionaries().combine_chunks()
    column = {name: table[name].combine_chunks() for name in table.column_names}
    axes, metrics = column["axis"].dictionary, column["metric"].dictionary
    ats, at = np.unique(column["at"].to_numpy(), return_inverse=True)
    agent = column["agent"].to_numpy().astype(np.int64) - ALL_AGENTS
    metric = column["metric"].indices.to_numpy().astype(np.int64)
    axis = column["axis"].indices.to_numpy().astype(np.int64)
    shape = (len(metrics), len(axes), int(agent.max(initial=0)) + 1, len(ats))
    code = np.ravel_multi_index((metric, axis, agent, at), shape)
    present, row = np.unique(code, return_inverse=True)
    seed = column["seed"].to_numpy().astype(np.int64) - seeds.start
    if len(seed) and (seed.min() < 0 or seed.max() >= len(seeds)):
        raise rejected(path, f"it holds seeds outside {_span(seeds)}")
    place = row * len(seeds) + seed
    if not np.array_equal(np.bincount(place, minlength=len(present) * len(seeds)),
                          np.ones(len(present) * len(seeds))):  # fmt: skip
        raise rejected(path, "a seed is missing or there twice at some point")
    values = np.empty(len(present) * len(seeds))
    values[place] = column["value"].to_numpy()
    points = zip(*np.unravel_index(present, shape), strict=True)
    return {
        (metrics[int(m)].as_py(), axes[int(x)].as_py(), int(a) + ALL_AGENTS, int(ats[t])): line
        for (m, x, a, t), line in zip(points, values.reshape(-1, len(seeds)), strict=True)
    }


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
    columns = _repeat(names, len(keys)) | {
        "agent": pa.array(agent, pa.int16()),
        "axis": pa.array(axis).dictionary_encode(),
        "at": pa.array(at, pa.int64()),
        "metric": pa.array(metric).dictionary_encode(),
        **{name: pa.array(numbers[name]) for name in NUMBERS},
        "seeds": pa.array(np.full(len(keys), matrix.shape[1]), pa.int32()),
        **{name: pa.array(numbers[name], pa.int32()) for name in ("missing", "diverged")},
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


def _names(cell: CellRuns, sweeps: list[str]) -> dict[str, pa.Scalar]:
    """What is the same in every row of a cell; a swept key that a control lacks is empty."""
    facts, settings = cell.first, cell.first["settings"]
    names = {
        "experiment": facts["experiment"],
        "cell": facts["cell"],
        "variant": facts["variant"],
        "algorithm": settings["algorithm"]["name"],
        "family": "" if settings["family"] is None else settings["family"]["name"],
    }
    return {key: pa.scalar(value) for key, value in names.items()} | {
        key: pa.scalar(facts["sweep"].get(key), pa.float64()) for key in sweeps
    }


def _repeat(names: dict[str, pa.Scalar], rows: int) -> dict[str, pa.Array]:
    code = np.zeros(rows, np.int16)
    return {
        key: pa.DictionaryArray.from_arrays(code, pa.array([value]))
        if pa.types.is_string(value.type)
        else pa.repeat(value, rows)
        for key, value in names.items()
    }


def _facts(cells: list[CellRuns], sweeps: list[str]) -> dict[str, Any]:
    """Where the numbers came from: the union of what the runs say of themselves."""
    runs = [facts for cell in cells for facts in cell.facts]
    versions: dict[str, set[str]] = defaultdict(set)
    for facts in runs:
        for package, version in facts["versions"].items():
            versions[package].add(version)
    made = [facts for facts in runs if "taken_from" not in facts]  # the others took no time here
    return {
        "paper": runs[0]["paper"],
        "experiment": runs[0]["experiment"],
        "sweeps": sweeps,
        "commits": sorted({facts["commit"] for facts in runs}),
        "origins": origins({cell.first["cell"]: cell.facts for cell in cells}),
        "versions": {package: sorted(found) for package, found in sorted(versions.items())},
        "wall_seconds": round(sum(facts["wall_seconds"] for facts in made), 3),
        "cpu_seconds": round(sum(facts["cpu_seconds"] for facts in made), 3),
        "peak_memory_mb": max(facts["peak_memory_mb"] for facts in runs),
        "cells": {
            cell.first["cell"]: {
                "seeds": [cell.seeds.start, cell.seeds.stop],
                "variant": cell.first["variant"],
                "settings": cell.first["settings"],
                "cpu_seconds": round(sum(facts["cpu_seconds"] for facts in cell.facts), 3),
            }
            for cell in cells
        },
        "runs": sorted(path.as_posix() for cell in cells for path in cell.paths),
    }
