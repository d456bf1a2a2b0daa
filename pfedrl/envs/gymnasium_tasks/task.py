"""The task that learners step in, of members that gymnasium makes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pfedrl.envs.classic.task import ControlTask

if TYPE_CHECKING:
    from pfedrl.envs.gymnasium_tasks.physics import GymPhysics
    from pfedrl.envs.gymnasium_tasks.rows import GymEnvironments


@dataclass(frozen=True)
class GymTask(ControlTask):
    """Members as CartPoles are members, but for how they move."""

    physics: "GymPhysics"  # type: ignore[assignment]

    def evaluation(self, members: np.ndarray) -> "GymEnvironments":  # type: ignore[override]
        return self.physics.rows(members)

    def observations(self, generators: Sequence[np.random.Generator], count: int) -> np.ndarray:
        """Uniform within the limits."""
        limit = self.observation_limit()
        shape = (count, len(limit))
        drawn = np.stack([random.uniform(-limit, limit, shape) for random in generators])
        return drawn.astype(np.float32)

    def observation_limit(self) -> np.ndarray:
        return self.physics.limit()
