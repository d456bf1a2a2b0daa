"""FedKL, Theorem III: the policies of Algorithm 1 converge."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.fedkl import FedKLStatement, Quantities
from pfedrl.theory.fedkl_theorem2 import best_responses


class Theorem3(FedKLStatement):
    """The sequence of policies (pi^t) is convergent.

    A limit cannot be computed; that the policies come to rest can. Its proof shows less than the
    theorem says: that every limit point is stationary, not that there is only one.
    """

    label: ClassVar[str] = "FedKL Theorem III"
    records: ClassVar[tuple[str, ...]] = ("margin", "moved", "resting_from")

    iterations: int = Field(200, gt=1, description="rounds of Algorithm 1")
    still: float = Field(1e-6, gt=0, description="a change of a probability that counts as rest")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: `still` less the largest change of a probability in the second half, over
        `still`; `moved`: how far the policy got; `resting_from`: the round after the last change
        that does not count as rest."""
        tasks = self.tasks(seeds)
        policy = tasks.policy
        late, resting = np.zeros(len(seeds)), np.zeros(len(seeds))
        for iteration in range(self.iterations):
            before = policy
            policy = best_responses(policy, Quantities.at(tasks, policy)).mean(axis=1)
            change = np.abs(policy - before).max(axis=(1, 2))
            resting = np.where(change > self.still, iteration + 1, resting)
            if iteration >= self.iterations // 2:
                late = np.maximum(late, change)
        return {
            "margin": 1 - late / self.still,
            "moved": np.abs(policy - tasks.policy).max(axis=(1, 2)),
            "resting_from": resting,
        }
