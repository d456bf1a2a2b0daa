"""Tuning: the same number of trials for everybody, on seeds that are never scored."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from pfedrl.core.errors import PfedrlError
from pfedrl.core.settings import Settings
from pfedrl.pipeline.project import Project
from pfedrl.suites.runs import Job, missing
from pfedrl.suites.scores import overall, read_entries
from pfedrl.suites.suite import Suite

FIRST = 1000  # of the seeds that are tuned on; suites score those below
ORDER = 20261118  # of trials, where a grid has more points than there are trials

Given = dict[str, Any]


class Tuned(Settings):
    """What came of tuning an algorithm on a suite; kept in workflow/suites/tuning."""

    suite: str
    algorithm: str
    seeds: list[int] = Field(description="the first and one past the last")
    grid: dict[str, list[Any]] = Field(description="values that were tried, by setting")
    scores: list[tuple[Given, float]] = Field(description="every trial, the best first")

    @property
    def best(self) -> Given:
        return self.scores[0][0]


class Trial(NamedTuple):
    """One point of a grid: its settings, and the suite with it in."""

    settings: Given
    variant: str
    suite: Suite


def read_grid(given: Sequence[str], parse: Any) -> dict[str, list[Any]]:
    """momentum=0.5,0.9 as a setting and its values."""
    found = {}
    for one in given:
        name, is_pair, values = one.partition("=")
        if not is_pair:
            raise PfedrlError(f"--grid {one}: give a setting and its values, as in beta=0.1,0.5.")
        found[name] = [parse(value) for value in values.split(",")]
    if not found:
        raise PfedrlError("give at least one --grid, as in --grid beta=0.1,0.5,0.9.")
    return found


def trials(
    suite: Suite, algorithm: str, grid: Mapping[str, Sequence[Any]], count: int
) -> list[Trial]:
    """So many points of the grid: all of them, or drawn once and for all."""
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    if len(points) > count:
        chosen = np.random.default_rng(ORDER).permutation(len(points))[:count]
        points = [points[number] for number in sorted(chosen)]
    return [Trial(point, *_tried(suite, algorithm, point)) for point in points]


def _tried(suite: Suite, algorithm: str, point: Given) -> tuple[str, Suite]:
    """A variant of the suite with other settings, or an algorithm from outside with these."""
    if algorithm not in suite.variants:
        return suite.with_algorithm(algorithm, point)
    name = "_".join([algorithm, *(f"{key}={value}" for key, value in point.items())])
    given = {key: {"algorithm": algorithm} | task.variants[algorithm] | point
             for key, task in suite.tasks.items()}  # fmt: skip
    return name, suite.with_variant(name, given)


def jobs(project: Project, suite: Suite, tried: Sequence[Trial], seeds: range) -> list[Job]:
    """All trials, and the controls that scores are relative to."""
    found = [job for control in sorted(suite.controls)
             for job in missing(project, suite, control, seeds)]  # fmt: skip
    found += [job for one in tried for job in missing(project, one.suite, one.variant, seeds)]
    return list({(job.cell.folder, job.seeds.start): job for job in found}.values())


def tuned(
    project: Project, suite: Suite, algorithm: str, grid: Mapping[str, Sequence[Any]],
    tried: Sequence[Trial], seeds: range,
) -> Tuned:  # fmt: skip
    """The scores of all trials."""
    scores = []
    for one in tried:
        tasks = {
            key: task.model_copy(update={"variants": {
                name: given for name, given in task.variants.items()
                if name in {one.variant, *suite.controls}}})
            for key, task in one.suite.tasks.items()
        }  # fmt: skip
        only = one.suite.model_copy(update={"tasks": tasks})
        found, lacking = read_entries(project, only, seeds=seeds)
        own = [entry for entry in found if entry.name == one.variant]
        if not own:
            raise PfedrlError(f"a trial has no runs: {'; '.join(lacking)}.")
        scores.append((one.settings, round(overall(own[0]), 6)))
    scores.sort(key=lambda one: -one[1])
    return Tuned(
        suite=suite.name, algorithm=Path(algorithm).name, seeds=[seeds.start, seeds.stop],
        grid={name: list(values) for name, values in grid.items()}, scores=scores,
    )  # fmt: skip
