"""QAvg, Lemma 6: how far the agents' policies drift apart between exchanges."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.qavg_policies import PAvgStatement


class Lemma6(PAvgStatement):
    """mean_k ||pi_t^k - pi-bar_t||^2 <= 4 eta_t^2 (E-1)^2 |A| / (1-gamma)^4."""

    label: ClassVar[str] = "QAvg Lemma 6"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over t of right minus left, over the right; `tightness`: the
        greatest of left over right."""
        tightness = np.zeros(len(seeds))
        scale = 4 * (self.local_steps - 1) ** 2 * self.actions / (1 - self.gamma) ** 4
        for moment in self.course(self.task(seeds), seeds, 1):
            spread = (moment.distances() ** 2).mean(axis=1)
            tightness = np.maximum(tightness, spread / (scale * moment.step**2))
        return {"margin": 1 - tightness, "tightness": tightness}
