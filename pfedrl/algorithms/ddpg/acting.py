"""Acting of DDPG agents: what the actor says, with Ornstein-Uhlenbeck noise."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.ddpg import kernels
from pfedrl.algorithms.ddpg.settings import DDPGSettings
from pfedrl.algorithms.deep.acting import ROWS, Acting
from pfedrl.envs.environments import Continuous, Environments
from pfedrl.stack.replay import Replay


class Noisy(Acting):
    """The noise drifts through an episode and starts anew with the next."""

    KEPT = (*Acting.KEPT, "normals", "noise")

    def __init__(
        self, environments: Environments, seeds: Sequence[int], agents: Sequence[int],
        settings: DDPGSettings,
    ):  # fmt: skip
        space = environments.action_space
        assert isinstance(space, Continuous)
        self.limit, self.settings = space.limit, settings
        replicas = len(seeds) * len(agents)
        self.normals = np.zeros((replicas, ROWS, space.size), np.float32)
        self.noise = np.zeros((replicas, space.size), np.float32)
        replay = Replay(
            replicas, settings.buffer, settings.batch, environments.observation_size, space.size,
            np.float32, settings.truncation_stops,
        )  # fmt: skip
        super().__init__(environments, seeds, agents, 0, replay, before=0)

    def reset(self, rows: np.ndarray) -> None:
        super().reset(rows)
        self.noise[rows] = 0.0

    def draw(self, replica: int) -> None:
        super().draw(replica)
        self.generators[replica].standard_normal(out=self.normals[replica], dtype=np.float32)

    def step(self, wanted: np.ndarray, active: np.ndarray) -> None:
        """One step of every active replica, near what its actor wants [replica, number] in +-1."""
        self.refill()
        kernels.explore(
            wanted, active, self.normals, self.place, self.settings.noise_pull,
            self.settings.noise_spread, self.limit, self.noise, self.action,
        )  # fmt: skip
        self.take(active)
