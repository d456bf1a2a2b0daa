"""The figure eight as rows of environments, all agents of a simulation side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.environments import Continuous
from pfedrl.envs.traffic.pool import FigureEightPool, Seen
from pfedrl.envs.traffic.simulation import MAXIMUM_ACCELERATION


class TrafficEnvironments:
    """A row is an agent; those of one simulation step and start together: see `Environments`.

    A crash terminates, the horizon truncates, and so does a vehicle that SUMO loses (`lost`): what
    was lived since the start is then worth nothing. A start is a seed; the simulation takes its
    first agent's.
    """

    observation_size = 6
    action_space = Continuous(1, MAXIMUM_ACCELERATION)

    def __init__(self, pool: FigureEightPool):
        self.pool, self.agents, self.cap = pool, pool.family.agents, pool.family.horizon
        self.simulations = len(pool.remotes)
        rows = self.simulations * self.agents
        self.observation = np.zeros((rows, self.observation_size))
        self.reward = np.zeros(rows)
        self.terminated, self.truncated, self.lost = np.zeros((3, rows), np.bool_)
        self.seeds = np.zeros(self.simulations, np.int64)
        self.lived: list[list[np.ndarray]] = [[] for _ in range(self.simulations)]  # actions

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        seeds = [random.integers(2**62) for random in generators[:: self.agents]]
        return np.repeat(seeds, self.agents)[:, None]

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        which = self._whole(rows)
        self.seeds[which] = starts[:: self.agents, 0]
        self.observation = self.observation.copy()
        for simulation, seen in zip(
            which, self.pool.reset(self.seeds[which].tolist(), which), strict=True
        ):
            self.lived[simulation] = []
            self._take(simulation, seen)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        which = self._whole(np.flatnonzero(active))
        actions = action[:, 0].reshape(self.simulations, self.agents)[which]
        self.observation = self.observation.copy()
        for simulation, own, seen in zip(
            which, actions, self.pool.step(actions, which), strict=True
        ):
            self.lived[simulation].append(own)
            self._take(simulation, seen)

    def _whole(self, rows: np.ndarray) -> list[int]:
        """The simulations that these rows are."""
        which = np.unique(rows // self.agents)
        if len(rows) != len(which) * self.agents:
            raise PfedrlError(
                f"all {self.agents} agents of a figure eight drive in one simulation: "
                "step and reset them together."
            )
        return which.tolist()

    def _take(self, simulation: int, seen: Seen) -> None:
        own = slice(simulation * self.agents, (simulation + 1) * self.agents)
        self.observation[own], self.reward[own] = seen.observations, seen.reward
        self.terminated[own], self.lost[own] = seen.crashed, seen.lost
        self.truncated[own] = seen.ended and not seen.crashed

    def state(self) -> dict[str, Any]:
        """SUMO's own state stays in SUMO: an episode is its seed and its actions."""
        return {"seeds": self.seeds, "lived": self.lived}

    def restore(self, state: dict[str, Any]) -> None:
        self.reset(
            np.arange(len(self.observation)), np.repeat(state["seeds"], self.agents)[:, None]
        )
        for simulation, lived in enumerate(state["lived"]):
            active = np.arange(len(self.observation)) // self.agents == simulation
            for own in lived:
                self.step(np.tile(own, self.simulations)[:, None], active)
