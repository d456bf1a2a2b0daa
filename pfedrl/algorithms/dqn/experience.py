"""Experience of the whole stack: environments, replay, and the random numbers of every replica."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.dqn import kernels
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import Physics

ROWS = 128  # rows of uniforms drawn at once, a replica


class Batch:
    """Preallocated transitions of all replicas, with room for an embedding before what is seen."""

    def __init__(self, replicas: int, batch: int, observation: int, embedding: int):
        shape = (replicas, batch)
        self.seen = np.zeros((*shape, embedding + observation), np.float32)
        self.following = np.zeros((*shape, embedding + observation), np.float32)
        self.action = np.zeros(shape, np.int64)
        self.reward = np.zeros(shape, np.float32)
        self.terminal = np.zeros(shape, np.bool_)


class Experience:
    """Every replica in its own environment, with its own replay and generator."""

    KEPT = ("state", "observation", "clock", "total", "episodes", "returns", "replay", "size",
            "head", "uniforms", "place")  # fmt: skip

    def __init__(
        self, physics: Physics, parameters: np.ndarray, seeds: Sequence[int], first_agent: int,
        episodes: int, buffer: int, batch: int, embedding: int,
    ):  # fmt: skip
        agents = parameters.shape[1]
        replicas = len(seeds) * agents
        self.physics = physics
        self.parameters = np.ascontiguousarray(parameters.reshape(replicas, -1))
        self.generators = [
            generator(seed, Purpose.AGENT, first_agent + agent)
            for seed in seeds
            for agent in range(agents)
        ]
        self.uniforms = np.zeros((replicas, ROWS, kernels.BATCH + batch), np.float32)
        self.place = np.full(replicas, ROWS)
        self.state = np.zeros((replicas, physics.STATE))
        self.observation = np.zeros((replicas, physics.observation), np.float32)
        self.following = np.zeros_like(self.observation)
        self.action = np.zeros(replicas, np.int64)
        self.reward = np.zeros(replicas, np.float32)
        self.terminal = np.zeros(replicas, np.bool_)
        self.clock = np.zeros(replicas, np.int64)
        self.total = np.zeros(replicas)
        self.episodes = np.zeros(replicas, np.int64)  # episodes done
        self.returns = np.full((replicas, episodes), np.nan)  # of training episodes
        shape = (replicas, buffer)
        self.replay = (
            np.zeros((*shape, physics.observation), np.float32),
            np.zeros((*shape, physics.observation), np.float32),
            np.zeros(shape, np.int8),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.bool_),
        )
        self.size = np.zeros(replicas, np.int64)
        self.head = np.zeros(replicas, np.int64)
        self.batch = Batch(replicas, batch, physics.observation, embedding)
        self.embedding = embedding
        self.restart(forget=False)

    def restart(self, forget: bool) -> None:
        """Every environment starts a new episode; the replay is emptied where asked."""
        self._refill()
        self.state[:] = self._own_rows()[:, kernels.START : kernels.BATCH]
        self.state[:] = (2 * self.state - 1) * self.physics.start
        self.place += 1
        self.clock[:] = 0
        self.total[:] = 0.0
        if forget:
            self.size[:] = 0
            self.head[:] = 0
        self.physics.observe(self.state, self.observation)

    def _own_rows(self) -> np.ndarray:
        return self.uniforms[np.arange(len(self.place)), self.place]

    def _refill(self) -> None:
        """New uniforms for the replicas that have used theirs up."""
        if self.place.max() < ROWS:
            return
        for r in np.nonzero(self.place >= ROWS)[0]:
            self.generators[r].random(out=self.uniforms[r], dtype=np.float32)
            self.place[r] = 0

    def step(self, values: np.ndarray, epsilon: np.ndarray, active: np.ndarray) -> None:
        """One step of every active replica, epsilon-greedy on its values [replica, action]."""
        self._refill()
        kernels.choose(values, epsilon, active, self.uniforms, self.place, self.action)
        self.physics.step(
            self.state, self.action, self.parameters, active, self.reward, self.terminal
        )
        self.physics.observe(self.state, self.following)
        kernels.remember(
            active, self.observation, self.action, self.reward, self.following, self.terminal,
            self.physics.cap, self.clock, *self.replay, self.size, self.head,
            self.state, self.physics.start, self.uniforms, self.place,
            self.total, self.episodes, self.returns,
        )  # fmt: skip
        self.physics.observe(self.state, self.observation)

    def sample(self, learning: np.ndarray, again: bool = False) -> Batch:
        """A batch of each learning replica; a second one in the same step uses new uniforms."""
        if again:
            self._refill()
            self.place += learning
        batch = self.batch
        kernels.gather(
            learning, self.uniforms, self.place, self.size, self.embedding, *self.replay,
            batch.seen, batch.following, batch.action, batch.reward, batch.terminal,
        )  # fmt: skip
        return batch

    def kept(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        arrays = {name: getattr(self, name) for name in self.KEPT}
        return {**arrays, "generators": [g.bit_generator.state for g in self.generators]}

    def restore(self, kept: dict[str, Any]) -> None:
        for name in self.KEPT:
            setattr(self, name, kept[name])
        for own, state in zip(self.generators, kept["generators"], strict=True):
            own.bit_generator.state = state
