"""FedKL, Corollary II: what a local policy is worth on all agents, from below."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.fedkl import FedKLStatement, Quantities, total_variation


class Corollary2(FedKLStatement):
    """eta(pi') >= eta(pi) + A_n(pi') - (alpha+beta) E[D_TV] - delta D_TV^max, for every n."""

    label: ClassVar[str] = "FedKL Corollary II"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over n of left minus right; `tightness`: how much of the penalty is
        needed, at most."""
        tasks = self.tasks(seeds)
        now = Quantities.at(tasks, tasks.policy)
        moved = total_variation(tasks.policy, tasks.proposed)
        expected = (now.visitation * moved[:, None]).sum(axis=-1)
        penalty = (now.alpha() + now.beta()) * expected + now.delta() * moved.max(axis=1)[:, None]
        gained = (tasks.returns(tasks.proposed) - tasks.returns(tasks.policy)).mean(axis=1)
        needed = now.policy_advantage(tasks.proposed) - gained[:, None]
        return {
            "margin": (penalty - needed).min(axis=1),
            "tightness": (needed / penalty).max(axis=1),
        }
