"""Acting of the whole stack: environments, random numbers and replay of every replica."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.dqn import kernels
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.environments import Environments
from pfedrl.stack.episodes import Episodes
from pfedrl.stack.replay import Replay, Transitions

ROWS = 128  # rows of uniforms drawn at once, a replica


class Acting:
    """Every replica in its own environment, with its own replay and generator."""

    def __init__(
        self, environments: Environments, seeds: Sequence[int], agents: Sequence[int],
        episodes: int, buffer: int, batch: int, embedding: int, truncation_stops: bool,
    ):  # fmt: skip
        replicas = len(seeds) * len(agents)
        self.environments = environments
        self.generators = [
            generator(seed, Purpose.AGENT, agent) for seed in seeds for agent in agents
        ]
        self.uniforms = np.zeros((replicas, ROWS, kernels.BATCH + batch), np.float32)
        self.place = np.full(replicas, ROWS)
        self.chosen = np.zeros((replicas, batch), np.float32)  # uniforms of a batch's indices
        self.action = np.zeros((replicas, 1), np.int64)
        self.episodes = Episodes(replicas, episodes)
        self.replay = Replay(
            replicas, buffer, batch, environments.observation_size,
            truncation_stops=truncation_stops, room=embedding,
        )  # fmt: skip
        self.restart(forget=False)

    def restart(self, forget: bool) -> None:
        """Every environment starts a new episode; the replay is emptied where asked."""
        self._refill()
        self.place += 1
        self._reset(np.arange(len(self.place)))
        self.episodes.total[:] = 0.0
        if forget:
            self.replay.forget()

    def _reset(self, rows: np.ndarray) -> None:
        """New episodes, from the uniforms used last."""
        starts = self.uniforms[rows, self.place[rows] - 1, kernels.START : kernels.BATCH]
        self.environments.reset(rows, starts)

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
        self.place += active
        environments, seen = self.environments, self.environments.observation
        environments.step(self.action, active)
        outcome = environments.reward, environments.terminated, environments.truncated
        self.replay.add(active, seen, environments.observation, self.action, *outcome)
        over = self.episodes.count(active, *outcome)
        if len(over):
            self._reset(over)

    def sample(self, learning: np.ndarray, again: bool = False) -> Transitions:
        """A batch of each learning replica; a second one in the same step uses new uniforms."""
        if again:
            self._refill()
            self.place += learning
        kernels.own_columns(learning, self.uniforms, self.place, self.chosen)
        return self.replay.sample(learning, self.chosen)

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {
            "environments": self.environments.state(),
            "episodes": self.episodes.state(),
            "replay": self.replay.state(),
            "uniforms": self.uniforms,
            "place": self.place,
            "generators": [g.bit_generator.state for g in self.generators],
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("environments", "episodes", "replay"):
            getattr(self, name).restore(state[name])
        self.uniforms, self.place = state["uniforms"], state["place"]
        for own, kept in zip(self.generators, state["generators"], strict=True):
            own.bit_generator.state = kept
