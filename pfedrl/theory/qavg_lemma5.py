"""QAvg, Lemma 5: what one step of PAvg gains at least."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from pfedrl.theory.qavg_policies import PAvgStatement


class Lemma5(PAvgStatement):
    """F(pi-bar_{t+1}) - F(pi-bar_t) >= (eta - eta^2 L) ||G||^2 less terms in kappa_2 and spread.

    Its proof takes the gradient mapping to be L-Lipschitz, which only the gradient is; the lemma's
    other terms are large enough that it may hold all the same.
    """

    label: ClassVar[str] = "QAvg Lemma 5"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over t of left minus right; `tightness`: the largest share of the
        terms subtracted that was needed."""
        task = self.task(seeds)
        tasks = self.dense(task, seeds)
        kappa = self.kappa_2(tasks, seeds)
        margin, tightness = np.full(len(seeds), np.inf), np.zeros(len(seeds))
        steepest = np.sqrt(self.actions) / (1 - self.gamma) ** 2
        smooth = self.smoothness
        for now, following in pairwise(self.course(task, seeds, 1)):
            step, spread = now.step, now.distances()
            gained = self.objective(tasks, following.mean) - self.objective(tasks, now.mean)
            promised = (step - step**2 * smooth) * self.mapping(tasks, now.mean, step) ** 2
            subtracted = step * steepest * (kappa + smooth * spread.mean(axis=1))
            subtracted += 2 * step**2 * smooth * (kappa**2 + (smooth * spread.mean(axis=1)) ** 2)
            margin = np.minimum(margin, gained - promised + subtracted)
            tightness = np.maximum(tightness, (promised - gained) / subtracted)
        return {"margin": margin, "tightness": tightness}
