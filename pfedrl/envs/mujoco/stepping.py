"""Bodies that walk by MuJoCo's physics, all rows in one call, as gymnasium's v5 tasks step them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any

import mujoco
import numpy as np

from pfedrl.envs.environments import Continuous

# what decides the next step: the solver's warm start too, and the action
PARTS = mujoco.mjtState
PHYSICS = int(
    PARTS.mjSTATE_QPOS | PARTS.mjSTATE_QVEL | PARTS.mjSTATE_WARMSTART | PARTS.mjSTATE_CTRL
)


@dataclass(frozen=True)
class Walker:
    """What gymnasium's task makes of a body: steps, starts, what is seen, rewarded, and the end."""

    frames: int  # physics steps a step
    action_cost: float  # times the squared action
    noise: float  # of a start's positions, uniform, and of its speeds
    normal_speeds: bool  # a start's speeds are normal, not uniform
    healthy_reward: float = 0.0  # each step
    lowest: float = -np.inf  # the torso's height, below which an episode terminates
    steepest: float = np.inf  # and its angle
    largest: float = np.inf  # and any other position or speed
    seen_speed: float = np.inf  # speeds are seen as at most this

    def start(self, random: np.random.Generator, positions: int, speeds: int) -> np.ndarray:
        """Drawn as gymnasium draws it: what is added to the resting body [positions + speeds]."""
        around = random.uniform(-self.noise, self.noise, positions)
        if self.normal_speeds:
            return np.concatenate([around, self.noise * random.standard_normal(speeds)])
        return np.concatenate([around, random.uniform(-self.noise, self.noise, speeds)])

    def healthy(self, position: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Which rows have not fallen."""
        small = (abs(position[:, 2:]) < self.largest).all(axis=1)
        small &= (abs(speed) < self.largest).all(axis=1)
        return small & (position[:, 1] > self.lowest) & (abs(position[:, 2]) < self.steepest)


class WalkerEnvironments:
    """Rows of bodies, each with its own model: see `Environments`.

    All that MuJoCo carries from step to step is in `physics`, so that rows take turns on one
    workspace a thread: which row is stepped by which thread, and among whom, changes no bit.
    """

    def __init__(self, walker: Walker, models: Sequence[Any], cap: int, threads: int = 1):
        model = models[0]
        self.walker, self.models, self.cap = walker, list(models), cap
        self.action_space = Continuous(model.nu, float(model.actuator_ctrlrange.max()))
        self.observation_size = model.nq - 1 + model.nv
        self.seconds = model.opt.timestep * walker.frames
        positions, speeds, rows = model.nq, model.nv, len(models)
        self.physics = np.zeros((rows, mujoco.mj_stateSize(model, PHYSICS)))
        self.position, self.speed = slice(positions), slice(positions, positions + speeds)
        self.action = slice(positions + 2 * speeds, None)
        self.rest = np.stack([model.qpos0 for model in models])
        self.clock = np.zeros(rows, np.int64)
        self.observation = np.zeros((rows, self.observation_size))
        self.reward = np.zeros(rows)
        self.terminated, self.truncated = np.zeros((2, rows), np.bool_)
        self.workspaces = [mujoco.MjData(model) for _ in range(threads)]
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        model = self.models[0]
        return np.stack([self.walker.start(g, model.nq, model.nv) for g in generators])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        positions = self.rest.shape[1]
        self.physics[rows] = 0.0
        self.physics[rows, self.position] = self.rest[rows] + starts[:, :positions]
        self.physics[rows, self.speed] = starts[:, positions:]
        self._move(rows, mujoco.mj_forward)  # from which the solver starts warm
        self.clock[rows] = 0
        self.observation[rows] = self._seen(rows)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        rows, walker = np.flatnonzero(active), self.walker
        before = self.physics[rows, 0]
        self.physics[rows, self.action] = action[rows]
        self._move(rows, partial(mujoco.mj_step, nstep=walker.frames))
        now = self.physics[rows]
        healthy = walker.healthy(now[:, self.position], now[:, self.speed])
        cost = walker.action_cost * np.square(action[rows]).sum(axis=1)
        forward = (now[:, 0] - before) / self.seconds
        self.reward[rows] = forward + healthy * walker.healthy_reward - cost
        self.terminated[rows] = ~healthy
        self.clock += active
        self.truncated = self.clock >= self.cap
        self.observation = self.observation.copy()
        self.observation[rows] = self._seen(rows)

    def _move(self, rows: np.ndarray, move: Callable[[Any, Any], None]) -> None:
        """MuJoCo's step of every row; it runs without Python's lock, so threads share the rows."""
        if self.pool is None:
            self._share(rows, self.workspaces[0], move)
            return
        shares = np.array_split(rows, len(self.workspaces))
        for _ in self.pool.map(self._share, shares, self.workspaces, repeat(move)):
            pass

    def _share(self, rows: np.ndarray, data: Any, move: Callable[[Any, Any], None]) -> None:
        for row in rows.tolist():
            model, physics = self.models[row], self.physics[row]
            mujoco.mj_setState(model, data, physics, PHYSICS)
            move(model, data)
            mujoco.mj_getState(model, data, physics, PHYSICS)

    def _seen(self, rows: np.ndarray) -> np.ndarray:
        """Everything but how far the body has come."""
        physics, most = self.physics[rows], self.walker.seen_speed
        speed = np.clip(physics[:, self.speed], -most, most)
        return np.concatenate([physics[:, self.position][:, 1:], speed], axis=1)

    def state(self) -> dict[str, Any]:
        return {"physics": self.physics, "clock": self.clock}

    def restore(self, state: dict[str, Any]) -> None:
        self.physics, self.clock = state["physics"], state["clock"]
        self.observation = self._seen(np.arange(len(self.clock)))
