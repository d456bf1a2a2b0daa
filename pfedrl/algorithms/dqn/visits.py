"""DQN agents that tell where they have been."""

from collections.abc import Sequence

import numpy as np

from pfedrl.algorithms.dqn.learner import DQNLearner
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.discrete import DiscreteTask
from pfedrl.stack.distillation import Grid
from pfedrl.stack.exchange import Parts


class VisitingDQN(DQNLearner):
    """Beside the nets there is a part "visits": the codes of a round's cells and actions."""

    def __init__(
        self, task: DiscreteTask, seeds: Sequence[int], settings: DeepSettings, grid: Grid
    ):
        super().__init__(task, seeds, settings)
        self.grid = grid

    @property
    def parts(self) -> Parts:
        return {**super().parts, "visits": self.visits()}

    def visits(self) -> np.ndarray:
        """The last steps [seed, agent, step], newest first; -1 before the first one."""
        last, real = self.experience.replay.last(self.settings.local_steps)
        actions = self.slope.shape[-1]
        codes = self.grid.codes(last.seen, last.action[..., 0], actions)
        return np.where(real, codes, -1).reshape(*self.shape, -1)
