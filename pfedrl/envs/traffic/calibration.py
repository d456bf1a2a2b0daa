"""Our figure eight against Flow's: returns of drivers that learn nothing."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pfedrl.core.files import atomic_write
from pfedrl.envs.traffic.episodes import Policy, constant, play, random_acceleration
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.pool import FigureEightPool

ALL_HUMAN = "h" * 14
ALTERNATING = "hr" * 7
UNEVEN = "hrhhrrhrhhhrrr"
SEEDS = 25  # of what is random


class Case(NamedTuple):
    """Who drives, and the return that Flow itself gives on the same SUMO."""

    name: str
    settings: dict[str, Any]
    policy: Policy
    low: float  # of Flow's returns, or of the interval that ours should lie in
    high: float
    seeds: int


def _near(flow: float, by: float) -> tuple[float, float]:
    return flow - by, flow + by


QUIET = {"placement": ALL_HUMAN, "human_noise": 0.0}
CASES = (
    Case("all human, no noise", QUIET, constant(0), *_near(372.9, 1), 1),
    Case("all human, no noise, started as intended", {**QUIET, "start": "as_intended"},
         constant(0), *_near(378.0, 1), 1),
    Case("all human", {"placement": ALL_HUMAN}, constant(0), *_near(374, 1.3), SEEDS),
    Case("alternating, a = 3", {"placement": ALTERNATING}, constant(3), *_near(385.7, 2), SEEDS),
    Case(f"{UNEVEN}, a = 3", {"placement": UNEVEN}, constant(3), *_near(371.7, 2), SEEDS),
    Case("alternating, a = 0", {"placement": ALTERNATING}, constant(0), *_near(4.6, 1), 3),
    Case("alternating, a ~ N(0, 1)", {"placement": ALTERNATING}, random_acceleration,
         65, 82, SEEDS),
)  # fmt: skip
COLUMNS = ("case", "flow_low", "flow_high", "mean", "median", "smallest", "largest", "episodes",
           "crashes")  # fmt: skip


class Row(NamedTuple):
    """A case as we measure it; returns are of the episodes without a crash."""

    case: Case
    returns: np.ndarray
    crashes: int

    def values(self) -> tuple[str | float | int, ...]:
        found = self.returns
        numbers = (found.mean(), np.median(found), found.min(), found.max())
        return (
            self.case.name, self.case.low, self.case.high, *(round(float(n), 2) for n in numbers),
            self.case.seeds, self.crashes,
        )  # fmt: skip


def measure(case: Case, workers: int = 1) -> Row:
    """Play a case's episodes."""
    family = FigureEightFamily.model_validate(case.settings)
    network = family.network(family.draw([0]))
    with FigureEightPool(family, network, min(workers, case.seeds)) as pool:
        episodes = play(pool, case.policy, range(case.seeds))
    whole = np.array([episode.total for episode in episodes if not episode.crashed])
    return Row(case, whole, sum(episode.crashed for episode in episodes))


def calibrate(folder: Path, workers: int = 1) -> None:
    """Measure every case and write the table, as calibration.csv and calibration.md."""
    rows = [measure(case, workers) for case in CASES]
    with (
        atomic_write(folder / "calibration.csv") as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(row.values() for row in rows)
    with atomic_write(folder / "calibration.md") as temporary:
        temporary.write_text("\n".join(markdown(rows)) + "\n", encoding="utf-8")


def markdown(rows: list[Row]) -> Iterator[str]:
    """The table for a reader."""
    yield "| drivers | Flow | ours: mean | median | range | crashes |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        name, low, high, mean, median, smallest, largest, episodes, crashes = row.values()
        yield (
            f"| {name} | {low:g} to {high:g} | {mean} | {median} | {smallest} to {largest} "
            f"| {crashes} of {episodes} |"
        )
