"""DePRL, Corollary 1: the rate in the number of rounds K and of workers N."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.core.sums import slope
from pfedrl.envs.family import Family
from pfedrl.theory.deprl import DePRLStatement, connectivity
from pfedrl.theory.statement import APPLIES


class Corollary1(DePRLStatement):
    """With alpha = 1/(tau sqrt K) and beta = sqrt(N/K), mean_k E[M(k)] = O(1/sqrt(NK)).

    It asks for K >= max(18 C^2 L^2 N^3 / (1-q)^2, (2L^2+2)^2 / (N L^4), N L^2), which no run
    reaches: see `log10_rounds_needed`.
    """

    label: ClassVar[str] = "DePRL Corollary 1"

    rounds: tuple[int, ...] = Field((250, 500, 1000, 2000, 4000), description="K, at 8 workers")
    workers: tuple[int, ...] = Field((2, 4, 8, 16, 32), description="N, at 1000 rounds")

    def average(self, seeds: Sequence[int], workers: int, rounds: int) -> np.ndarray:
        """mean_k E[M(k)], [seed]."""
        ones = np.ones(len(seeds))
        alpha = ones / (self.head_steps * np.sqrt(rounds))
        beta = ones * np.sqrt(workers / rounds)
        course = self.train(self.problem(seeds, workers), seeds, alpha, beta, rounds)
        return course.measure.mean(axis=0)

    def metrics(self, family: Family | None) -> set[str]:
        by_rounds = {f"measure_k_{rounds}" for rounds in self.rounds}
        by_workers = {f"measure_n_{workers}" for workers in self.workers}
        slopes = {"slope_k", "slope_n", "log10_rounds_needed"}
        return super().metrics(family) | slopes | by_rounds | by_workers

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`slope_k` and `slope_n`: of log mean_k M(k) over log K and over log N; the corollary's
        are -1/2. `applies`: whether every run is as long as it asks. `log10_rounds_needed`: the K
        that it asks for at 8 workers."""
        metrics: dict[str, np.ndarray] = {}
        by_rounds = [self.average(seeds, 8, rounds) for rounds in self.rounds]
        by_workers = [self.average(seeds, workers, 1000) for workers in self.workers]
        metrics["slope_k"] = slope(np.log(self.rounds), np.log(by_rounds))
        metrics["slope_n"] = slope(np.log(self.workers), np.log(by_workers))
        for rounds, average in zip(self.rounds, by_rounds, strict=True):
            metrics[f"measure_k_{rounds}"] = average
        for workers, average in zip(self.workers, by_workers, strict=True):
            metrics[f"measure_n_{workers}"] = average
        runs = [(8, rounds) for rounds in self.rounds] + [(n, 1000) for n in self.workers]
        long_enough = [rounds >= self.rounds_needed(seeds, n) for n, rounds in runs]
        metrics[APPLIES] = np.all(long_enough, axis=0).astype(float)
        metrics["log10_rounds_needed"] = np.log10(self.rounds_needed(seeds, 8))
        return metrics

    def rounds_needed(self, seeds: Sequence[int], workers: int) -> np.ndarray:
        """The least K that the corollary is about, [seed]."""
        scale, mixed = connectivity(self.matrix(workers))
        square = self.problem(seeds, workers).smoothness() ** 2
        consensus = 18 * scale**2 * square * workers**3 / mixed**2
        heads = (2 * square + 2) ** 2 / (workers * square**2)
        return np.maximum(consensus, np.maximum(heads, workers * square))

    def instance(self, seed: int) -> dict[str, Any]:
        return self.numbers(seed, 8)
