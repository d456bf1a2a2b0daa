"""Acting of DQN agents: epsilon-greedy on their nets' values, learning and frozen."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.deep.acting import Acting
from pfedrl.algorithms.dqn import kernels
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.discrete import DiscreteEnvironments
from pfedrl.stack.nets import Perceptron
from pfedrl.stack.replay import Replay


class EpsilonGreedy(Acting):
    """A row of uniforms is: whether to explore, which action, a start, then a batch's indices."""

    def __init__(
        self, environments: DiscreteEnvironments, seeds: Sequence[int], agents: Sequence[int],
        settings: DeepSettings, embedding: int,
    ):  # fmt: skip
        self.start_size = environments.start_size
        replay = Replay(
            len(seeds) * len(agents), settings.buffer, settings.batch,
            environments.observation_size, action_type=action_type(environments),
            truncation_stops=settings.truncation_stops, room=embedding,
        )  # fmt: skip
        before = kernels.START + self.start_size
        super().__init__(environments, seeds, agents, settings.episodes, replay, before)

    def starts(self, rows: np.ndarray) -> np.ndarray:
        """From the uniforms used last, where a start is a few of them."""
        if not self.start_size:
            return super().starts(rows)
        return self.uniforms[rows, self.place[rows] - 1, kernels.START : self.before]

    def step(self, values: np.ndarray, epsilon: np.ndarray, active: np.ndarray) -> None:
        """One step of every active replica, epsilon-greedy on its values [replica, action]."""
        self.refill()
        kernels.choose(values, epsilon, active, self.uniforms, self.place, self.action)
        self.take(active)


def action_type(environments: DiscreteEnvironments) -> type:
    """The smallest that holds every action's number."""
    return np.int8 if environments.action_space.count <= 127 else np.int16


class Greedy:
    """How nets [net, weight] act in rows of environments, equally many a net; it keeps values."""

    def __init__(self, net: Perceptron, weights: Tensor):
        self.net, self.weights = net, weights
        self.value = np.zeros(0)  # [row], of the actions taken last

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        seen = torch.from_numpy(observation).view(len(self.weights), -1, observation.shape[1])
        values = self.net.outputs(self.weights, seen).view(len(observation), -1)
        value, action = values.max(1, keepdim=True)
        self.value = value[:, 0].numpy()
        return action.numpy()
