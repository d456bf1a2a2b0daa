"""Linear-quadratic regulators: a continuous task of which the best policy is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
from scipy.linalg import solve_discrete_are

from pfedrl.envs.environments import Continuous

SPRING = np.array([[0.95, 0.2], [-0.2, 0.95]])  # a point swings about the origin, and slowly rests
PUSH = np.array([[0.0], [0.2]])
COST, EFFORT = np.diag([0.1, 0.1]), np.array([[0.01]])


class Regulators:
    """Points of different mass [row] that are pushed to the origin: see `Environments`."""

    observation_size, action_space = 2, Continuous(1, 2.0)

    def __init__(self, mass: np.ndarray, cap: int):
        rows = len(mass)
        self.mass, self.cap = mass, cap
        self.observation = np.zeros((rows, 2))
        self.clock, self.reward = np.zeros(rows, np.int64), np.zeros(rows)
        self.terminated, self.truncated = np.zeros((2, rows), np.bool_)

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        return np.stack([random.uniform(-1, 1, 2) for random in generators])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        self.observation[rows], self.clock[rows] = starts, 0

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        seen, push = self.observation, action / self.mass[:, None]
        cost = (seen @ COST * seen).sum(axis=1) + EFFORT[0, 0] * (action**2).sum(axis=1)
        moved = seen @ SPRING.T + push @ PUSH.T
        self.reward = np.where(active, -cost, 0.0)
        self.observation = np.where(active[:, None], moved, seen)
        self.clock += active
        self.truncated = self.clock >= self.cap

    def state(self) -> dict[str, Any]:
        return {"observation": self.observation, "clock": self.clock}

    def restore(self, state: dict[str, Any]) -> None:
        self.observation, self.clock = state["observation"], state["clock"]


@dataclass(frozen=True)
class RegulatorTask:
    """Members are masses."""

    training: np.ndarray  # [seed, agent]
    held_out: np.ndarray
    cap: int = 50

    @property
    def seeds(self) -> int:
        return self.training.shape[0]

    @property
    def agents(self) -> int:
        return self.training.shape[1]

    def environments(self) -> Regulators:
        return self.evaluation(self.training.reshape(-1))

    def evaluation(self, members: np.ndarray) -> Regulators:
        return Regulators(members, self.cap)

    def newcomers(self) -> "RegulatorTask":
        return replace(self, training=self.held_out, held_out=self.held_out[:, :0])


class RegulatorEnv(gymnasium.Env):
    """One of them, with gymnasium's interface."""

    def __init__(self, mass: float, cap: int = 50):
        limit, seen = Regulators.action_space.limit, np.full(2, np.inf)
        self.action_space = gymnasium.spaces.Box(-limit, limit, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-seen, seen, dtype=np.float64)
        self.inner = Regulators(np.array([mass]), cap)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, Any]:
        super().reset(seed=seed)
        self.inner.reset(np.zeros(1, int), self.inner.starts([self.np_random]))
        return self.inner.observation[0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        inner = self.inner
        inner.step(np.asarray(action, float)[None], np.ones(1, bool))
        return inner.observation[0], float(inner.reward[0]), False, bool(inner.truncated[0]), {}


def riccati_gain(mass: float, gamma: float) -> np.ndarray:
    """K of the best policy u = -K x, discounted, without a limit on the action."""
    root = np.sqrt(gamma)
    a, b = root * SPRING, root * PUSH / mass
    p = solve_discrete_are(a, b, COST, EFFORT)
    return np.linalg.solve(EFFORT + b.T @ p @ b, b.T @ p @ a)[0]
