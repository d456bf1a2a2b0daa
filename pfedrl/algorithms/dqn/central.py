"""One DQN net of a seed, which acts for all agents and learns from all they see."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.dqn.learner import DQNLearner
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.discrete import DiscreteTask
from pfedrl.stack.denormals import flushed_denormals
from pfedrl.stack.exchange import Parts
from pfedrl.stack.pooling import CODES, NUMBERS, POOL

TERMINATED, TRUNCATED, SENT = 1, 2, 3  # columns of a transition's codes, behind the action's


class Server(DQNLearner):
    """The nets, targets, moments and pools of all seeds; it never steps in an environment."""

    copies_between_rounds = False

    def learn(self, uniforms: np.ndarray, ready: np.ndarray) -> None:
        """A gradient step of these seeds [seed], on batches by these numbers [seed, number]."""
        experience = self.experience
        experience.uniforms[:, 0], experience.place[:] = uniforms, 1
        warm = experience.replay.size >= self.settings.warm_up
        self._update(ready & warm & ~self.diverged, self.phases[0])


class CentralDQNLearner(DQNLearner):
    """Agents without nets of their own: they act by the server's, and send what they see.

    The server learns when a round begins, from what has arrived. Its i-th batch is drawn by agent
    i's numbers, so that it is DQN, bit for bit, where there is one agent.
    """

    copies_between_rounds = False  # the server copies

    def __init__(self, task: DiscreteTask, seeds: Sequence[int], settings: DeepSettings):
        own = settings.model_copy(update={"buffer": 1})  # until it is sent
        super().__init__(task, seeds, own)
        pooled = settings.model_copy(update={"buffer": settings.buffer * task.agents})
        one = replace(task, training=task.training[:, :1])  # type: ignore[type-var]
        self.server = Server(one, seeds, pooled)
        seen = 2 * self.experience.environments.observation_size + 1
        self.pool: dict[str, np.ndarray] = {
            NUMBERS: np.zeros((*self.shape, task.agents, seen), np.float32),
            CODES: np.zeros((*self.shape, task.agents, SENT + 1), np.int16),
        }

    def _hold(self, weights: np.ndarray, target: np.ndarray | None = None) -> None:
        self.weights = self.target = self.gradient = torch.zeros(len(weights), 0)

    def _view(self) -> None:
        """There is nothing to look at."""

    @property
    def stack(self) -> Tensor:
        return self.server.stack.expand(-1, self.shape[1], -1)

    @property
    def parts(self) -> Parts:
        """The transition that was seen last, and those that arrived from all."""
        last, real = self.experience.replay.last(1)
        numbers = [last.seen[:, 0], last.following[:, 0], last.reward]
        codes = [last.action[:, 0], last.terminated, last.truncated, real]
        told = {
            NUMBERS: np.concatenate(numbers, axis=1),
            CODES: np.concatenate(codes, axis=1, dtype=np.int16),
        }
        return {
            **{name: told[name].reshape(*self.shape, -1) for name in told},
            **{POOL + name: arrived for name, arrived in self.pool.items()},
        }

    def advance(self, steps: int) -> None:
        self.experience.replay.forget()  # it was sent
        super().advance(steps)

    def _step(self, active: np.ndarray) -> None:
        """Every agent acts by the net of its seed."""
        server, experience = self.server, self.experience
        seen = torch.from_numpy(experience.environments.observation)
        values = server.net.forward(server.layers, seen.view(*self.shape, -1))[-1]
        epsilon = np.repeat(server.epsilon, self.shape[1])
        experience.step(values.flatten(0, 1).numpy(), epsilon, active)

    def observe(self) -> None:
        self._learn()

    @flushed_denormals()
    def _learn(self) -> None:
        """Take in what has arrived, then as many gradient steps as there are senders."""
        agents, server = np.arange(self.shape[1]), self.server
        # an agent that misses a round receives nothing, and nobody has anything of it
        numbers, codes = (self.pool[name][:, agents, agents] for name in (NUMBERS, CODES))
        self.pool[CODES][...] = 0
        sent = codes[..., SENT] > 0
        if not sent.any():
            return
        width = numbers.shape[2] // 2
        for agent in agents:
            own, code = numbers[:, agent], codes[:, agent]
            server.experience.replay.add(
                sent[:, agent], own[:, :width], own[:, width:-1], code[:, :1], own[:, -1],
                code[:, TERMINATED] > 0, code[:, TRUNCATED] > 0,
            )  # fmt: skip
        done = self.experience.episodes.done.reshape(self.shape)
        server.experience.episodes.done[:] = done.min(axis=1)  # the rate is halved by these
        uniforms, place = self.experience.uniforms, self.experience.place - 1
        used = uniforms[np.arange(len(place)), place].reshape(*self.shape, -1)
        for agent in agents:
            server.learn(used[:, agent], sent[:, agent])
        self.diverged[:] = np.repeat(server.diverged, len(agents))

    def state(self) -> dict[str, Any]:
        return {**super().state(), "server": self.server.state(), "pool": self.pool}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.server.restore(state["server"])
        self.pool = state["pool"]
