"""DePRL, Theorem 1: the average of M(k) is at most a vanishing term and a noise term."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.deprl import DePRLStatement, connectivity
from pfedrl.theory.statement import APPLIES


class Theorem1(DePRLStatement):
    """mean_k E[M(k)] <= 4 (f_0 - f*) / (K beta) + noise terms (11), under the rates it allows."""

    label: ClassVar[str] = "DePRL Theorem 1"
    records: ClassVar[tuple[str, ...]] = (
        "margin",
        "tightness",
        "allowed",
        "consensus_peak",
        "consensus_last",
    )

    workers: int = Field(2, gt=1, description="N")
    iterations: int = Field(1000, gt=1, description="K, rounds")
    beta: float | None = Field(
        None, gt=0, description="the representation's rate; unset: the largest the theorem allows"
    )

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: (11)'s right side less its left; `tightness`: left over right.

        `applies`: whether P is doubly stochastic (Assumption 1) and the rates are allowed;
        `allowed` is the largest beta that the theorem allows. `consensus_peak` and
        `consensus_last` are the largest and the last consensus error. The variability of
        Assumption 5 is that met along the run.
        """
        problem = self.problem(seeds, self.workers)
        lipschitz = problem.smoothness()
        scale, mixed = connectivity(self.matrix(self.workers))
        allowed = np.minimum(
            np.minimum(1 / lipschitz, self.workers / 2),
            mixed / (3 * np.sqrt(2) * scale * lipschitz * self.workers),
        )
        beta = allowed if self.beta is None else np.full(len(seeds), self.beta)
        alpha = beta / self.head_steps
        heads_allowed = (1 + 36 * self.head_steps**2) / (self.head_steps * lipschitz)
        applies = (beta <= allowed) & (alpha <= heads_allowed) & self.doubly_stochastic()
        course = self.train(problem, seeds, alpha, beta, self.iterations)
        left = course.measure.mean(axis=0)
        right = self.bound(
            course.first_loss - problem.least_loss(), alpha, beta, lipschitz, course.variability
        )
        return {
            APPLIES: applies.astype(float),
            "margin": right - left,
            "tightness": left / right,
            "allowed": allowed,
            "consensus_peak": course.consensus.max(axis=0),
            "consensus_last": course.consensus[-1],
        }

    def doubly_stochastic(self) -> bool:
        matrix = self.matrix(self.workers)
        return all(np.allclose(matrix.sum(axis=axis), 1.0) for axis in (0, 1))

    def bound(
        self, excess: np.ndarray, alpha: np.ndarray, beta: np.ndarray, lipschitz: np.ndarray,
        variability: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """The right side of (11)."""
        steps, variance, workers = self.head_steps, self.noise**2, self.workers
        inverse = 1 + 1 / lipschitz**2
        drift = 12 * alpha**3 * lipschitz**2 * steps / beta * (steps - 1) * (6 * steps + 1)
        heads = 2 * alpha**2 * steps * lipschitz / beta
        shared = 2 * beta * lipschitz / workers + 2 * beta * inverse / (3 * workers)
        vanishing = 4 * excess / (self.iterations * beta)
        heterogeneous = 2 * beta * inverse * variability / workers
        return vanishing + (drift + heads + shared) * variance + heterogeneous

    def instance(self, seed: int) -> dict[str, Any]:
        return self.numbers(seed, self.workers)
