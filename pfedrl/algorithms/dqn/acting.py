"""Acting of the whole stack: environments, random numbers and replay of every replica."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.dqn import kernels
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import Physics
from pfedrl.stack.replay import Replay, Transitions

ROWS = 128  # rows of uniforms drawn at once, a replica


class Acting:
    """Every replica in its own environment, with its own replay and generator."""

    KEPT = ("state", "observation", "clock", "total", "episodes", "returns", "uniforms",
            "place")  # fmt: skip

    def __init__(
        self, physics: Physics, parameters: np.ndarray, seeds: Sequence[int], first_agent: int,
        episodes: int, buffer: int, batch: int, embedding: int, truncation_stops: bool,
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
        self.action = np.zeros((replicas, 1), np.int64)
        self.reward = np.zeros(replicas, np.float32)
        self.terminated = np.zeros(replicas, np.bool_)
        self.truncated = np.zeros(replicas, np.bool_)
        self.clock = np.zeros(replicas, np.int64)
        self.total = np.zeros(replicas)
        self.episodes = np.zeros(replicas, np.int64)  # episodes done
        self.returns = np.full((replicas, episodes), np.nan)  # of training episodes
        self.replay = Replay(
            replicas, buffer, batch, physics.observation, truncation_stops=truncation_stops,
            room=embedding,
        )  # fmt: skip
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
            self.replay.forget()
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
        action = self.action[:, 0]
        kernels.choose(values, epsilon, active, self.uniforms, self.place, action)
        self.physics.step(self.state, action, self.parameters, active, self.reward, self.terminated)
        self.physics.observe(self.state, self.following)
        kernels.end_episodes(
            active, self.reward, self.terminated, self.truncated, self.physics.cap, self.clock,
            self.state, self.physics.start, self.uniforms, self.place,
            self.total, self.episodes, self.returns,
        )  # fmt: skip
        self.replay.add(
            active, self.observation, self.following, self.action, self.reward,
            self.terminated, self.truncated,
        )  # fmt: skip
        self.physics.observe(self.state, self.observation)

    def sample(self, learning: np.ndarray, again: bool = False) -> Transitions:
        """A batch of each learning replica; a second one in the same step uses new uniforms."""
        if again:
            self._refill()
            self.place += learning
        rows = np.arange(len(self.place))
        return self.replay.sample(learning, self.uniforms[rows, self.place - 1, kernels.BATCH :])

    def kept(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        arrays = {name: getattr(self, name) for name in self.KEPT}
        return {
            **arrays,
            "replay": self.replay.state(),
            "generators": [g.bit_generator.state for g in self.generators],
        }

    def restore(self, kept: dict[str, Any]) -> None:
        for name in self.KEPT:
            setattr(self, name, kept[name])
        self.replay.restore(kept["replay"])
        for own, state in zip(self.generators, kept["generators"], strict=True):
            own.bit_generator.state = state
