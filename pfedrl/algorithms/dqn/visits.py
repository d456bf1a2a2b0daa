"""DQN agents that tell where they have been."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.dqn.learner import DQNLearner
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.classic.task import ControlTask, Physics
from pfedrl.stack.distillation import Grid
from pfedrl.stack.exchange import Parts


class VisitingDQN(DQNLearner):
    """Beside the nets there is a part "visits": the codes of a round's cells and actions."""

    def __init__(self, task: ControlTask, seeds: Sequence[int], settings: DeepSettings, grid: Grid):
        super().__init__(task, seeds, settings)
        self.grid = grid

    @property
    def parts(self) -> Parts:
        return {**super().parts, "visits": self.visits()}

    def visits(self) -> np.ndarray:
        """The last steps [seed, agent, step], newest first; -1 before the first one."""
        last, real = self.experience.replay.last(self.settings.local_steps)
        codes = self.grid.codes(last.seen, last.action[..., 0], self.task.physics.actions)
        return np.where(real, codes, -1).reshape(*self.shape, -1)


def observation_grid(physics: Physics, bins: int) -> Grid:
    """Cosines and sines lie within +-1; positions and speeds within the box."""
    corners = physics.observations(np.stack([physics.box, -physics.box]))
    limit = np.maximum(np.abs(corners).max(axis=0), 1e-6)
    if physics.observation > physics.STATE:
        limit[:4] = 1.0
    return Grid(limit, bins)
