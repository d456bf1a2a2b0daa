"""QAvg, Theorem 2: how fast QAvg converges under the theorem's own step size."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.qavg_tables import QAvgStatement


class Theorem2(QAvgStatement):
    """With eta_t = 2/((1-gamma)(t+E)), ||Q-bar_t - Q_I*|| <= 16 gamma E / ((1-gamma)^3 (t+E)).

    The proof's Lemma 4 needs Q in [0, 1/(1-gamma)], which eta_t <= 1 would keep. But eta_t > 1
    while t + E < 2/(1-gamma), and a step larger than 1 can throw Q far out of that range.
    """

    label: ClassVar[str] = "QAvg Theorem 2"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness", "appendix_margin", "slope")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least of bound - error over t; `tightness`: the greatest error / bound.

        `appendix_margin` is the margin under the appendix's constant, which has E-1 for E.
        `slope` is that of log error against log(t+E) over the second half; the bound's is -1.
        """
        margin, appendix_margin = np.full((2, len(seeds)), np.inf)
        scaled = np.zeros(len(seeds))
        line = Line(len(seeds))
        constant = 16 * self.gamma / (1 - self.gamma) ** 3
        for t, moment in enumerate(self.course(seeds)):
            time, error = t + self.local_steps, moment.error
            margin = np.minimum(margin, constant * self.local_steps / time - error)
            appendix_margin = np.minimum(
                appendix_margin, constant * (self.local_steps - 1) / time - error
            )
            scaled = np.maximum(scaled, time * error)
            if t > self.iterations // 2:
                line.add(np.log(time), np.log(np.maximum(error, np.finfo(float).tiny)))
        return {
            "margin": margin,
            "tightness": scaled / (constant * self.local_steps),
            "appendix_margin": appendix_margin,
            "slope": line.slope(),
        }


class Line:
    """A least-squares line through points (x, y [seed]) that come one at a time."""

    def __init__(self, seeds: int):
        self.sums = np.zeros((4, seeds))  # of x, y, x^2 and x y
        self.count = 0

    def add(self, x: float, y: np.ndarray) -> None:
        self.sums += np.stack([np.full_like(y, x), y, np.full_like(y, x * x), x * y])
        self.count += 1

    def slope(self) -> np.ndarray:
        x, y, xx, xy = self.sums / self.count
        return (xy - x * y) / (xx - x * x)
