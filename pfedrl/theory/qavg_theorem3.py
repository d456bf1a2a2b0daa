"""QAvg, Theorem 3: how far PAvg stays from the best policy, and whether kappa_2 drives it."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.qavg_policies import PAvgStatement


class Theorem3(PAvgStatement):
    """Under eta_t = sqrt(E/(12 L^2 (t+E/3))): max_t g(pi-bar_t) >= g(pi*) - c (kappa_2 + T^-1/2).

    c is not given, so that what can be checked is the direction: whether the gap grows with
    kappa_2, on the same base at two sizes of noise. The appendix's full version (its Theorem 6)
    bounds the gradient mapping with all constants, and is checked as it stands.
    """

    label: ClassVar[str] = "QAvg Theorem 3"
    records: ClassVar[tuple[str, ...]] = ("gap", "kappa_2", "gradient_margin", "gradient_tightness")

    ascent_steps: int = Field(400, gt=0, description="of centralised ascent to the best policy")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`gap`: the best g found less max_t g(pi-bar_t); `kappa_2`: the largest value found.

        `gradient_margin` and `gradient_tightness` are those of the appendix's Theorem 6, its
        minimum taken over the rounds, with the kappa_2 found: a lower bound, so that a bound which
        holds with it holds.
        """
        task = self.task(seeds)
        tasks = self.dense(task, seeds)
        kappa_2 = self.kappa_2(tasks, seeds)
        course = []
        smallest = np.full(len(seeds), np.inf)
        for moment in self.course(task, seeds, self.local_steps):
            course.append(self.objective(tasks, moment.mean))
            if len(course) <= self.iterations // self.local_steps:  # t < T
                reached = self.mapping(tasks, moment.mean, moment.step) ** 2
                smallest = np.minimum(smallest, reached)
        highest = np.max(course, axis=0)
        bound = self.gradient_bound(kappa_2, course[-1] - course[0])
        best = self.best(tasks, self.ascent_steps)[1]
        return {
            "gap": np.maximum(best, highest) - highest,
            "kappa_2": kappa_2,
            "gradient_margin": bound - smallest,
            "gradient_tightness": smallest / bound,
        }

    def gradient_bound(self, kappa_2: np.ndarray, gained: np.ndarray) -> np.ndarray:
        """The right side of the appendix's Theorem 6."""
        steps, smoothness, horizon = self.local_steps, self.smoothness, 1 - self.gamma
        root = np.sqrt(self.iterations // steps * steps)
        drift = 2 * steps * (steps - 1) * self.actions * smoothness / horizon**4
        logarithm = np.log(1 + 3 * root**2 / steps)
        return (
            2 * kappa_2 * np.sqrt(self.actions) / horizon**2
            + np.sqrt(24 * smoothness**2 / steps) * gained / root
            + np.sqrt(steps / (6 * smoothness**2))
            * (drift + 2 * kappa_2**2 * smoothness)
            * logarithm
            / root
        )
