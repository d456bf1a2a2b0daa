"""Bodies that walk by MuJoCo's physics, all rows in one call, as gymnasium's v5 tasks step them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from pfedrl.envs.environments import Continuous

NOTHING_YET = mujoco.mjtStage.mjSTAGE_NONE


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

    All that MuJoCo carries from step to step, the solver's warm start too, is in the batch's state,
    so that which row is stepped by which thread, and among whom, changes no bit.
    """

    def __init__(self, walker: Walker, models: Sequence[Any], cap: int, threads: int = 1):
        model, rows = models[0], len(models)
        self.walker, self.models, self.cap = walker, list(models), cap
        self.action_space = Continuous(model.nu, float(model.actuator_ctrlrange.max()))
        self.observation_size = model.nq - 1 + model.nv
        self.seconds = model.opt.timestep * walker.frames
        self.batch = Batch(model, rows, threads)
        self.batch.set_models(self.models)
        # views of the state: what is written is where the next step begins
        self.position, self.speed, self.control = map(self.batch.bind, ("qpos", "qvel", "ctrl"))
        self.clock = np.zeros(rows, np.int64)
        self.observation = np.zeros((rows, self.observation_size))
        self.reward = np.zeros(rows)
        self.terminated, self.truncated = np.zeros((2, rows), np.bool_)

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        model = self.models[0]
        return np.stack([self.walker.start(g, model.nq, model.nv) for g in generators])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        positions = self.position.shape[1]
        self.batch.reset(rows, stage=NOTHING_YET)
        self.position[rows] += starts[:, :positions]
        self.speed[rows] = starts[:, positions:]
        self.batch.forward(rows)  # from which the solver starts warm
        self.clock[rows] = 0
        self.observation[rows] = self._seen(rows)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        rows, walker = np.flatnonzero(active), self.walker
        before = self.position[rows, 0]
        self.control[rows] = action[rows]
        self.batch.step(rows, walker.frames)
        now = self.position[rows]
        healthy = walker.healthy(now, self.speed[rows])
        cost = walker.action_cost * np.square(action[rows]).sum(axis=1)
        forward = (now[:, 0] - before) / self.seconds
        self.reward[rows] = forward + healthy * walker.healthy_reward - cost
        self.terminated[rows] = ~healthy
        self.clock += active
        self.truncated = self.clock >= self.cap
        self.observation = self.observation.copy()
        self.observation[rows] = self._seen(rows)

    def _seen(self, rows: np.ndarray) -> np.ndarray:
        """Everything but how far the body has come."""
        most = self.walker.seen_speed
        speed = np.clip(self.speed[rows], -most, most)
        return np.concatenate([self.position[rows, 1:], speed], axis=1)

    def state(self) -> dict[str, Any]:
        return {"physics": self.batch.state, "clock": self.clock}

    def restore(self, state: dict[str, Any]) -> None:
        self.batch.state[:] = state["physics"]
        self.clock = state["clock"]
        self.observation = self._seen(np.arange(len(self.clock)))
