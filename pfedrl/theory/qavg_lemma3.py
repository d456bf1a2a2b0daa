"""QAvg, Lemma 3: what one step of QAvg does to its error."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from pfedrl.theory.qavg_tables import QAvgStatement


class Lemma3(QAvgStatement):
    """||Q-bar_{t+1} - Q*|| <= (1 - (1-gamma) eta_t) ||Q-bar_t - Q*|| + eta_t gamma spread_t.

    Its proof takes ||(1 - eta_t) Q|| to be (1 - eta_t) ||Q||, which needs eta_t <= 1; the steps
    that Theorem 2 asks for begin at 2/((1-gamma) E).
    """

    label: ClassVar[str] = "QAvg Lemma 3"
    records: ClassVar[tuple[str, ...]] = ("margin", "first_step")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over t of right minus left, over 1 + left; `first_step`: eta_0."""
        margin = np.full(len(seeds), np.inf)
        first = 0.0
        for now, following in pairwise(self.course(seeds)):
            first = first or now.step
            right = (1 - (1 - self.gamma) * now.step) * now.error
            right = right + now.step * self.gamma * now.spread
            margin = np.minimum(margin, (right - following.error) / (1 + following.error))
        return {"margin": margin, "first_step": np.full(len(seeds), first)}
