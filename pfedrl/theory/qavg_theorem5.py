"""QAvg, Theorem 5: a small gradient mapping means a small gap to the best policy."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.instances import occupancies
from pfedrl.theory.qavg_policies import PAvgStatement


class Theorem5(PAvgStatement):
    """g(pi*) - g(pi) <= 2 (2 L eta + 1) rho sqrt|S| (kappa_2 + ||G(pi)||_2), for every pi.

    rho is not defined. The proof needs the largest ratio of the visits of pi* to those of pi, over
    states and environments: the least it can mean, so that a bound which holds with it holds.
    """

    label: ClassVar[str] = "QAvg Theorem 5"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    step: float = Field(0.1, gt=0, description="eta, any")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: right minus left at the seed's policy; `tightness`: left over right.

        pi* is the best policy found, kappa_2 the largest value found.
        """
        tasks = self.dense(self.task(seeds), seeds)
        best, highest = self.best(tasks)
        visits = [
            occupancies(policy, tasks.moves, self.start, self.gamma)
            for policy in (best, tasks.policy)
        ]
        rho = (visits[0] / visits[1]).max(axis=(1, 2))
        factor = 2 * (2 * self.smoothness * self.step + 1) * rho * np.sqrt(self.states)
        gradient = self.mapping(tasks, tasks.policy, self.step)
        right = factor * (self.kappa_2(tasks, seeds) + gradient)
        left = highest - self.objective(tasks, tasks.policy)
        return {"margin": right - left, "tightness": left / right}
