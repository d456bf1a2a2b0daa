"""FedKL, Definition I: the level of heterogeneity, which is zero where all agents are alike."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.theory.fedkl import FedKLStatement, Quantities, Tasks
from pfedrl.theory.instances import Instances


class Definition1(FedKLStatement):
    """In the IID case ||B||_F = 0 for every policy; otherwise it is positive."""

    label: ClassVar[str] = "FedKL Definition I"
    records: ClassVar[tuple[str, ...]] = ("margin", "level")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: minus the largest level among copies of one agent, relative to ||A||_F.

        `level` is the least level of the agents as they were drawn, different ones.
        """
        tasks = self.tasks(seeds)
        alike = Quantities.at(copies(tasks), tasks.policy)
        different = Quantities.at(tasks, tasks.policy)
        return {
            "margin": -(alike.level() / alike.potential()).max(axis=1),
            "level": different.level().min(axis=1),
        }


def copies(tasks: Tasks) -> Tasks:
    """Every agent a copy of the first."""
    drawn = tasks.drawn
    count = drawn.environments
    return Tasks(
        Instances(np.repeat(drawn.moves[:, :1], count, axis=1), drawn.reward, drawn.policy,
                  drawn.gamma),
        np.repeat(tasks.starts[:, :1], count, axis=1),
        tasks.proposed,
    )  # fmt: skip
