"""Reading an experiment's summary: its curves, its last points, its final values by seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.parquet import read_table
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.project import Project

if TYPE_CHECKING:
    import pandas as pd

FEW = 5  # seeds at most whose own values stand beside the statistics, to be drawn one by one
STATISTICS = ("mean", "se", "low", "high", "seeds", "missing", "diverged")  # that tables keep


def sweep_name(key: str) -> str:
    """family.kappa as the column that holds it: kappa."""
    return key.split(".")[-1]


@dataclass(frozen=True)
class Summary:
    """What `summarise` wrote of one experiment."""

    experiment: str
    statistics: pd.DataFrame
    finals: pd.DataFrame
    facts: dict[str, Any]

    @property
    def seeds(self) -> range:
        """The seeds, the same in every cell."""
        return range(*next(iter(self.facts["cells"].values()))["seeds"])

    def since(self, first: int) -> Summary | None:
        """The final values of later seeds only; the curves are those of all. None without any."""
        if first >= self.seeds.stop:
            return None
        cells = {
            name: {**facts, "seeds": [max(first, facts["seeds"][0]), facts["seeds"][1]]}
            for name, facts in self.facts["cells"].items()
        }
        finals = self.finals[self.finals["seed"] >= first]
        return replace(self, finals=finals, facts={**self.facts, "cells": cells})

    def algorithm(self, cell: str) -> dict[str, Any]:
        """The settings of a cell's algorithm, its name among them."""
        return self.facts["cells"][cell]["settings"]["algorithm"]

    def family(self, cell: str) -> dict[str, Any]:
        """The settings of a cell's family, its name among them."""
        return self.facts["cells"][cell]["settings"]["family"]

    def seconds(self, cell: str) -> float:
        """The core-seconds of one seed."""
        facts = self.facts["cells"][cell]
        return facts["cpu_seconds"] / len(range(*facts["seeds"]))

    def cells(self, variant: str) -> list[str]:
        """The cells of a variant, in the order of the sweep's values."""
        rows = self.statistics[self.statistics["variant"] == variant]
        if rows.empty:
            raise unknown("variant", variant, set(self.statistics["variant"]), self.experiment)
        sweeps = self.facts["sweeps"]
        unique = rows[["cell", *sweeps]].drop_duplicates()
        return unique.sort_values(sweeps)["cell"].tolist() if sweeps else unique["cell"].tolist()

    def cell_at(self, variant: str, **sweep: float) -> str:
        """The one cell of a variant at a point of the sweep."""
        rows = self.statistics[self.statistics["variant"] == variant]
        for key, value in sweep.items():
            rows = rows[rows[key] == value]
        found = rows["cell"].unique()
        if len(found) != 1:
            point = ", ".join(f"{key}={value:g}" for key, value in sweep.items())
            raise PfedrlError(
                f"{self.experiment}: {len(found)} cells of '{variant}' at {point or 'no point'}; "
                f"its cells: {', '.join(self.cells(variant))}."
            )
        return str(found[0])

    def points_along(self, variant: str, along: str) -> dict[float, str]:
        """The sweep's values in order, each with its cell."""
        rows = self.statistics[self.statistics["variant"] == variant]
        values = sorted(rows[sweep_name(along)].dropna().unique())
        return {float(v): self.cell_at(variant, **{sweep_name(along): v}) for v in values}

    def curve(self, cell: str, metric: str, agent: int = ALL_AGENTS) -> pd.DataFrame:
        """The statistics of a metric along its axis, agents pooled or one of them."""
        return self._rows(self.statistics, cell, metric, agent).sort_values("at")

    def _rows(self, table: pd.DataFrame, cell: str, metric: str, agent: int) -> pd.DataFrame:
        """The rows of a cell's metric; an unknown name is an error with the nearest."""
        of_cell = table[table["cell"] == cell]
        if of_cell.empty:
            raise unknown("cell", cell, set(table["cell"]), self.experiment)
        rows = of_cell[(of_cell["metric"] == metric) & (of_cell["agent"] == agent)]
        if rows.empty:
            where = f"{self.experiment}, cell '{cell}'"
            raise unknown("metric", metric, set(of_cell["metric"]), where)
        return rows

    def last(self, cell: str, metric: str) -> pd.Series:
        """The statistics of a metric at the last point."""
        return self.curve(cell, metric).iloc[-1]

    def measures(self, cell: str, metric: str) -> bool:
        """Whether a cell has a metric."""
        rows = self.statistics
        return bool(((rows["cell"] == cell) & (rows["metric"] == metric)).any())

    def final(self, cell: str, metric: str, agent: int = ALL_AGENTS) -> np.ndarray:
        """The final values, one a seed, in the order of seeds: of an agent, or of their mean."""
        rows = self._rows(self.finals, cell, metric, agent)
        return rows.sort_values("seed")["value"].to_numpy()

    def by_agent(self, cell: str, metric: str) -> list[np.ndarray]:
        """The final values by seed of each agent."""
        self.final(cell, metric)  # explains a name that is not there
        rows = self.finals[(self.finals["cell"] == cell) & (self.finals["metric"] == metric)]
        agents = sorted(set(rows["agent"]) - {ALL_AGENTS})
        return [self.final(cell, metric, agent) for agent in agents]


def numbered(rows: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The rows of metrics whose names are a prefix and a number, with that number as a column."""
    names = rows["metric"].astype(str)
    found = rows[names.str.match(rf"{prefix}\d+$")]
    return found.assign(number=names.str.removeprefix(prefix).loc[found.index].astype(int))


def summaries_folder(project: Project, scale: str) -> Path:
    """The folder of a scale's summaries."""
    return project.root / "results" / scale / "summaries"


def paths(folder: Path, paper: str, experiment: str) -> tuple[Path, Path]:
    """Where an experiment's statistics and final values stand."""
    return (
        folder / paper / f"{experiment}.statistics.parquet",
        folder / paper / f"{experiment}.finals.parquet",
    )


def read_summary(folder: Path, paper: str, experiment: str) -> Summary:
    """An experiment's summary; a file that is not there or not whole is named."""
    tables = [read_table(path) for path in paths(folder, paper, experiment)]
    statistics, finals = (table.to_pandas() for table, _ in tables)
    return Summary(experiment, statistics, finals, tables[0][1])
