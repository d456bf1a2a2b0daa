"""FedKL, Corollary I: when a local update is able to improve the global objective."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.fedkl import FedKLStatement, Quantities
from pfedrl.theory.statement import APPLIES


class Corollary1(FedKLStatement):
    """||B_n||_F < ||A_n||_F is necessary for a local update to improve the global objective.

    The proof shows that a lower bound of the improvement cannot be positive otherwise; that does
    not keep the improvement itself from being positive.
    """

    label: ClassVar[str] = "FedKL Corollary I"
    records: ClassVar[tuple[str, ...]] = ("margin", "gain")

    step: float = Field(
        0.1, gt=0, le=1, description="how far the first agent moves to its greedy policy"
    )

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`applies`: whether (20) fails for the first agent; only there does the corollary forbid
        something. `margin`: ||A|| - ||B|| where its update improves its own and the global
        objective, 0 where not; `gain`: what the update gives globally where (20) fails."""
        tasks = self.tasks(seeds)
        now = Quantities.at(tasks, tasks.policy)
        greedy = np.eye(self.actions)[now.advantage[:, 0].argmax(axis=-1)]
        moved = (1 - self.step) * tasks.policy + self.step * greedy
        change = tasks.returns(moved) - tasks.returns(tasks.policy)
        helps = (change[:, 0] > 1e-9) & (change.mean(axis=1) > 1e-9)
        room = (now.potential() - now.level())[:, 0]
        return {
            APPLIES: (room <= 0).astype(float),
            "margin": np.where(helps, room, 0.0),
            "gain": np.where(helps & (room <= 0), change.mean(axis=1), 0.0),
        }
