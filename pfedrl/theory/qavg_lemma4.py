"""QAvg, Lemma 4: how far the agents' Q tables drift apart between exchanges."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.qavg_tables import QAvgStatement


class Lemma4(QAvgStatement):
    """mean_k ||Q_t^k - Q-bar_t|| <= 4 eta_t (E-1) / (1-gamma), if eta_t <= 2 eta_{t+E}.

    And if Q_0 is in [0, 1/(1-gamma)]. Its proof takes all Q_t to be there, which a step above 1
    does not keep; both conditions that it states hold here.
    """

    label: ClassVar[str] = "QAvg Lemma 4"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over t of bound - spread; `tightness`: the greatest spread/bound."""
        margin, tightness = np.full(len(seeds), np.inf), np.zeros(len(seeds))
        for moment in self.course(seeds):
            bound = 4 * moment.step * (self.local_steps - 1) / (1 - self.gamma)
            margin = np.minimum(margin, bound - moment.spread)
            if bound > 0:
                tightness = np.maximum(tightness, moment.spread / bound)
        return {"margin": margin, "tightness": tightness}
