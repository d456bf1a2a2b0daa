"""QAvg, Lemma 2: how far the average value can be from the imaginary environment's."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.instances import (
    Instances,
    by_size,
    deterministic_policies,
    draw,
    imaginary,
    size_of,
    values,
)
from pfedrl.theory.statement import Statement


def kappa_1(moves: np.ndarray) -> np.ndarray:
    """max over s and pi of sum_s' sum_i |P_i^pi - mean_j P_j^pi| (Section 5.1), exact: [seed].

    The sum is convex in pi(.|s), so that its maximum over a state's policies is at an action.
    """
    distance = np.abs(moves - imaginary(moves)).sum(axis=(1, 4))
    return distance.max(axis=(1, 2))


class Lemma2(Statement):
    """For all s and pi, |V-bar^pi(s) - V_I^pi(s)| <= gamma kappa_1 / (1-gamma)^2."""

    label: ClassVar[str] = "QAvg Lemma 2"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness", "size")

    environments: int = Field(2, gt=1, description="n")
    largest: int = Field(5, gt=2, description="instances have 2 to this many states, in turn")
    actions: int = Field(2, gt=1)
    gamma: float = Field(0.9, gt=0, lt=1)
    concentration: float = Field(
        0.3,
        gt=0,
        description="of the transitions; small ones are near-deterministic, the hard case",
    )

    def tasks(self, seeds: Sequence[int], states: int) -> Instances:
        return draw(seeds, states, self.actions, self.environments, self.gamma, self.concentration)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the bound less the largest difference over s, the seed's policy and all
        deterministic ones; `tightness`: their ratio."""
        margin, tightness, size = (np.empty(len(seeds)) for _ in range(3))
        for states, rows in by_size(seeds, self.largest):
            tasks = self.tasks([seeds[row] for row in rows], states)
            bound = self.gamma * kappa_1(tasks.moves) / (1 - self.gamma) ** 2
            largest = self.difference(tasks, tasks.policy)
            for policy in deterministic_policies(states, self.actions):
                everywhere = np.broadcast_to(policy, tasks.policy.shape)
                largest = np.maximum(largest, self.difference(tasks, everywhere))
            margin[rows], tightness[rows], size[rows] = bound - largest, largest / bound, states
        return {"margin": margin, "tightness": tightness, "size": size}

    def difference(self, tasks: Instances, policy: np.ndarray) -> np.ndarray:
        """max over s of |V-bar^pi(s) - V_I^pi(s)|: [seed]."""
        own = values(policy, tasks.moves, tasks.reward, tasks.gamma).mean(axis=1)
        imagined = values(policy, imaginary(tasks.moves), tasks.reward, tasks.gamma)[:, 0]
        return np.abs(own - imagined).max(axis=1)

    def instance(self, seed: int) -> dict[str, Any]:
        return self.tasks([seed], size_of(seed, self.largest)).numbers()
