"""Rounds of PPO-KL in which critics stay with their agents."""

import numpy as np

from pfedrl.algorithms.ppo_kl.learner import FederatedPPO, Server
from pfedrl.algorithms.ppo_kl.update import Stack


class PrivateCritics(FederatedPPO):
    """The server's policy, and each agent's own critic."""

    def stack(self, server: Server, seed: np.ndarray, agent: np.ndarray) -> Stack:
        made = super().stack(server, seed, agent)
        made.critic = self.critic[seed, agent]
        return made
