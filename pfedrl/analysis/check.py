"""Check before any run that whatever a paper's files name will be measured.

Claims, readings, printed numbers, options of drawings and findings name experiments, cells,
variants and metrics.
"""

from itertools import product
from typing import Any

from pfedrl.analysis.claim_tests import AXES
from pfedrl.analysis.options import module_of, options_of
from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.claim import Claim, Near, Pair, Test
from pfedrl.pipeline.finding import Finding
from pfedrl.pipeline.paper import UNASKED, Artifact
from pfedrl.pipeline.project import Project


class Measured:
    """The cells of a paper's experiments and their metrics, by the experiments' own settings."""

    def __init__(self, project: Project, paper: str):
        self.project, self.paper = project, paper
        self._cells: dict[str, dict[str, Cell]] = {}

    def cells(self, experiment: str) -> dict[str, Cell]:
        """The cells of an experiment by name."""
        if experiment not in self._cells:
            found = cells(self.project, self.paper, experiment, None)
            self._cells[experiment] = {cell.name: cell for cell in found}
        return self._cells[experiment]

    def chosen(
        self, where: str, experiment: str, cell: str | None = None, variant: str | None = None
    ) -> list[Cell]:
        """The cell of a name, or those of a variant, or all of an experiment."""
        known = self.cells(experiment)
        variants = {found.variant for found in known.values()}
        if cell is not None and cell not in known:
            raise unknown("cell", cell, known, where)
        if variant is not None and variant not in variants:
            raise unknown("variant", variant, variants, where)
        if cell is not None:
            return [known[cell]]
        return [found for found in known.values() if variant in (None, found.variant)]

    def check(
        self,
        where: str,
        experiment: str,
        metric: str,
        *,
        cell: str | None = None,
        variant: str | None = None,
        along: str | None = None,
        at: float | None = None,
    ) -> None:
        """Raise an error, with the nearest valid name, if a metric will not be measured.

        It must be a metric of one cell, or of all cells of a variant. `along` is a key of the
        variant's sweep; with `at`, only the cells at that value count.
        """
        chosen = self.chosen(f"{where}, {experiment}", experiment, cell, variant)
        if along is not None:
            chosen = _along(chosen, along, at, f"{where}, {experiment}")
        for found in chosen:
            if (reason := found.unfit()) is not None:
                raise PfedrlError(f"{where}: {experiment}/{found.name} does not run: {reason}.")
            metrics = found.runnable.metrics(found.family)
            # a curve has the mean over its second half as well
            if metric not in metrics and metric.removesuffix("_late") not in metrics:
                raise unknown("metric", metric, metrics, f"{where}, {experiment}/{found.name}")


def _along(chosen: list[Cell], along: str, at: float | None, where: str) -> list[Cell]:
    """The cells at a value of a swept key, or all of them."""
    key = along.split(".")[-1]
    swept = {name for cell in chosen for name in cell.sweep}
    if key not in swept:
        raise unknown("swept key", along, swept, where)
    if at is None:
        return chosen
    there = [cell for cell in chosen if cell.sweep.get(key) == at]
    if not there:
        values = {f"{cell.sweep[key]:g}" for cell in chosen}
        raise unknown(f"value of {key}", f"{at:g}", values, where)
    return there


def check_paper(project: Project, paper: str) -> None:
    """Claims, readings, printed numbers, options and findings name what will be measured."""
    page, measured = project.paper(paper), Measured(project, paper)
    for claim in page.claims:
        place = f"workflow/papers/{paper}/claims.yaml, {claim.id}"
        for test in claim.tests:
            check_test(measured, test, place)
        check_controls(measured, claim, place)
        for reading in page.readings:
            place = f"workflow/papers/{paper}/readings.yaml, {reading.id}"
            for test in claim.tests if reading.metrics or reading.cells else ():
                check_test(measured, reading.of(test), place)
    for name, artifact in page.artifacts.items():
        place = f"workflow/papers/{paper}/printed/{name}.csv"
        for number, row in enumerate(artifact.printed):
            measured.check(
                f"{place}, line {number + 2}", row.experiment, row.metric, variant=row.variant,
                along=row.along, at=row.at,
            )  # fmt: skip
        place = f"workflow/papers/{paper}/artifacts.yaml, {name}"
        module_of(artifact, f"{place}.draw")
        unasked = artifact.draw in UNASKED
        options = project.place(paper, artifact.experiments[0]) if unasked else f"{place}.options"
        check_options(measured, artifact, options)
    for finding in page.findings:
        check_finding(measured, finding, f"workflow/papers/{paper}/findings.yaml, {finding.id}")


def check_options(measured: Measured, artifact: Artifact, where: str) -> None:
    """The experiments, cells, variants and metrics that an artifact's options name."""
    for named in options_of(artifact, where).named():
        place = f"{where}, {named.key}"
        experiment = named.experiment or artifact.experiments[0]
        if experiment not in artifact.experiments:
            raise unknown("experiment of the artifact", experiment, artifact.experiments, place)
        found = measured.chosen(place, experiment, named.cell, named.variant)
        metrics = set().union(*(cell.runnable.metrics(cell.family) for cell in found))
        if named.metric is not None and named.metric not in metrics:
            raise unknown("metric", named.metric, metrics, place)


def check_finding(measured: Measured, finding: Finding, where: str) -> None:
    """The cells, metrics and settings that a finding's numbers name."""
    for name, number in finding.numbers.items():
        place = f"{where}.numbers.{name}"
        for experiment, (cell, less) in product(finding.experiments_of(number), number.pairs):
            if number.setting is not None:
                (found,) = measured.chosen(f"{place}, {experiment}", experiment, cell)
                if number.setting not in (settings := flat_settings(found.settings())):
                    raise unknown("setting", number.setting, settings, f"{place}, {cell}")
            elif number.along is not None:
                measured.check(place, experiment, finding.metric_of(number), variant=cell,
                               along=number.along)  # fmt: skip
            else:
                measured.check(place, experiment, finding.metric_of(number), cell=cell)
                if less is not None:
                    measured.check(place, experiment, finding.metric_of(number), cell=less)
                if number.where is not None:
                    measured.check(place, experiment, number.where, cell=cell)


def flat_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a cell's algorithm and family in one mapping."""
    return {**(settings["family"] or {}), **settings["algorithm"]}


def check_test(measured: Measured, test: Test, where: str) -> None:
    """The cells, sweeps and metrics that a claim's test names."""
    for asked in test.asks():
        if asked.metric not in AXES:
            measured.check(where, test.experiment, asked.metric, cell=asked.cell,
                           variant=asked.variant, along=asked.along, at=asked.at)  # fmt: skip


def check_controls(measured: Measured, claim: Claim, where: str) -> None:
    """The metrics of the controls that an order of algorithms depends on."""
    for test in claim.tests:
        if isinstance(test, Pair | Near):
            metric = (claim.floor and claim.floor.metric) or test.metric
            for cell in (claim.floor.cell, claim.floor.winner) if claim.floor else ():
                if cell is not None:
                    measured.check(where, test.experiment, metric, cell=cell)
            if (top := claim.ceiling) is not None:
                measured.check(
                    where, top.experiment or test.experiment, top.metric or metric, cell=top.cell
                )
