"""FedKL, Theorem I: an agent's own policy advantage, penalised, bounds the average one."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.fedkl import FedKLStatement, Quantities, total_variation


class Theorem1(FedKLStatement):
    """sum_k q_k A_k(pi') >= A_n(pi') - 2 ||B_n||_F E_{rho_n}[D_TV(pi || pi')], for every n."""

    label: ClassVar[str] = "FedKL Theorem I"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over n of left minus right; `tightness`: how much of the penalty is
        needed, at most."""
        tasks = self.tasks(seeds)
        now = Quantities.at(tasks, tasks.policy)
        own = now.policy_advantage(tasks.proposed)
        moved = total_variation(tasks.policy, tasks.proposed)
        penalty = now.alpha() * (now.visitation * moved[:, None]).sum(axis=-1)
        needed = own - own.mean(axis=1, keepdims=True)
        return {
            "margin": (penalty - needed).min(axis=1),
            "tightness": (needed / penalty).max(axis=1),
        }
