"""DQN agents that stay near the net they received."""

import numpy as np

from pfedrl.algorithms.dqn.dqn_prox import DQNProx
from pfedrl.algorithms.dqn.learner import DQNLearner


class ProximalDQN(DQNLearner):
    """mu (w - w_received) is added to every gradient; Adam then scales the sum."""

    settings: DQNProx

    def advance(self, steps: int) -> None:
        self.received = self.weights.numpy().copy()
        super().advance(steps)

    def adjust(
        self, weights: np.ndarray, gradient: np.ndarray, rows: slice, columns: slice,
        learning: np.ndarray,
    ) -> None:  # fmt: skip
        gradient += np.float32(self.settings.mu) * (weights - self.received[rows, columns])
