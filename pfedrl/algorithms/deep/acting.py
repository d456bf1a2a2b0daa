"""Acting of the whole stack: environments, random numbers and replay of every replica.

A replica is one agent of one seed; arrays have replicas on their first axis. Each replica reads its
own row of drawn numbers, at its own place, so that its numbers do not depend on who else is in the
stack. Replicas that rest are passed over.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.environments import Environments
from pfedrl.stack.episodes import Episodes
from pfedrl.stack.replay import Replay, Transitions

ROWS = 128  # rows of numbers drawn at once, a replica

kernel = njit(cache=True, error_model="numpy")


@kernel
def columns_of_last(active, uniforms, place, first, into):
    """The batch's columns of the row that each active replica used last."""
    for r in range(len(active)):
        if active[r]:
            for b in range(into.shape[1]):
                into[r, b] = uniforms[r, place[r] - 1, first + b]


class Acting:
    """Every replica in its own environment, with its own replay and generator.

    A row of uniforms holds `before` numbers for whoever chooses actions, then the indices of a
    batch.
    """

    KEPT: tuple[str, ...] = ("uniforms", "place")

    def __init__(
        self, environments: Environments, seeds: Sequence[int], agents: Sequence[int],
        episodes: int, replay: Replay, before: int,
    ):  # fmt: skip
        replicas, batch = replay.batch.reward.shape
        self.environments, self.replay, self.before = environments, replay, before
        self.generators = [
            generator(seed, Purpose.AGENT, agent) for seed in seeds for agent in agents
        ]
        self.uniforms = np.zeros((replicas, ROWS, before + batch), np.float32)
        self.place = np.full(replicas, ROWS)
        self.chosen = np.zeros((replicas, batch), np.float32)  # uniforms of a batch's indices
        self.action = np.zeros(
            (replicas, environments.action_space.size), replay.batch.action.dtype
        )
        self.episodes = Episodes(replicas, episodes)
        self.restart(forget=False)

    def restart(self, forget: bool) -> None:
        """Every environment starts a new episode; the replay is emptied where asked."""
        self.refill()
        self.place += 1
        self.reset(np.arange(len(self.place)))
        self.episodes.total[:] = 0.0
        if forget:
            self.replay.forget()

    def reset(self, rows: np.ndarray) -> None:
        """New episodes of these rows."""
        self.environments.reset(rows, self.starts(rows))

    def starts(self, rows: np.ndarray) -> np.ndarray:
        """Where they start: [row, number], by each row's own generator."""
        return self.environments.starts([self.generators[row] for row in rows])

    def refill(self) -> None:
        """New numbers for the replicas that have used theirs up."""
        if self.place.max() < ROWS:
            return
        for r in np.nonzero(self.place >= ROWS)[0].tolist():
            self.draw(r)
            self.place[r] = 0

    def draw(self, replica: int) -> None:
        self.generators[replica].random(out=self.uniforms[replica], dtype=np.float32)

    def take(self, active: np.ndarray) -> None:
        """The chosen actions: one step of every active replica, stored and counted."""
        self.place += active
        environments, seen = self.environments, self.environments.observation
        environments.step(self.action, active)
        outcome = environments.reward, environments.terminated, environments.truncated
        self.replay.add(active, seen, environments.observation, self.action, *outcome)
        over = self.episodes.count(active, *outcome)
        if len(over):
            self.reset(over)

    def sample(self, learning: np.ndarray, again: bool = False) -> Transitions:
        """A batch of each learning replica; a second one in the same step uses new uniforms."""
        if again:
            self.refill()
            self.place += learning
        columns_of_last(learning, self.uniforms, self.place, self.before, self.chosen)
        return self.replay.sample(learning, self.chosen)

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {
            "environments": self.environments.state(),
            "episodes": self.episodes.state(),
            "replay": self.replay.state(),
            "generators": [g.bit_generator.state for g in self.generators],
            **{name: getattr(self, name) for name in self.KEPT},
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("environments", "episodes", "replay"):
            getattr(self, name).restore(state[name])
        for name in self.KEPT:
            setattr(self, name, state[name])
        for own, kept in zip(self.generators, state["generators"], strict=True):
            own.bit_generator.state = kept
