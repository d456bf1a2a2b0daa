"""Rows of environments that gymnasium made, stepped by its vector interface."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.environments import Continuous, Discrete
from pfedrl.envs.gymnasium_tasks.told import REST

SEEDS = 2.0**31  # a start is a seed below this


class GymEnvironments:
    """Rows of members: see `Environments`. A start is the seed of a reset.

    gymnasium has no way to save where an episode stands: a checkpoint has its start and actions,
    and a resumed run takes them again.
    """

    start_size = 0  # asked for, not drawn with the actions

    def __init__(self, make: Callable[[np.ndarray], Any], members: np.ndarray, cap: int):
        rows, self.cap = len(members), cap
        self.envs = SyncVectorEnv(
            [lambda own=own: make(own) for own in members],
            observation_mode="different", autoreset_mode=AutoresetMode.DISABLED,
        )  # fmt: skip
        self.action_space = space_of(self.envs.single_action_space)
        seen = self.envs.single_observation_space
        assert seen.shape is not None
        self.observation_size = int(np.prod(seen.shape))
        self.observation = np.zeros((rows, self.observation_size), np.float32)
        self.reward = np.zeros(rows, np.float32)
        self.terminated, self.truncated = np.zeros((2, rows), np.bool_)
        self.begun = np.full(rows, np.nan)  # the episodes' starts
        self.clock = np.zeros(rows, np.int64)
        self.taken = np.zeros((rows, cap, self.action_space.size))  # their actions so far

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        return np.array([[np.floor(random.random() * SEEDS)] for random in generators])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        chosen = np.zeros(len(self.clock), np.bool_)
        chosen[rows] = True
        self.begun[rows], self.clock[rows] = starts[:, 0], 0
        seeds = [int(seed) if own else None for seed, own in zip(self.begun, chosen, strict=True)]
        if not chosen.any():
            return
        seen, _ = self.envs.reset(seed=seeds, options={"reset_mask": chosen})
        self.observation = self._shown(seen, chosen)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        rows = np.flatnonzero(active)
        self.taken[rows, self.clock[rows]] = action[rows]
        told = [self._action(row) if on else REST for row, on in zip(action, active, strict=True)]
        seen, reward, *_ = self.envs.step(tuple(told))
        over = np.array(self.envs.get_attr("over"))
        self.observation = self._shown(seen, active)
        self.reward[rows] = reward[rows]
        self.terminated[rows], self.truncated[rows] = over[rows, 0], over[rows, 1]
        self.clock += active

    def _action(self, row: np.ndarray) -> Any:
        """As the environment takes it."""
        space = self.envs.single_action_space
        if isinstance(space, spaces.Discrete):
            return int(space.start + row[0])
        return row.astype(space.dtype).reshape(space.shape)

    def _shown(self, seen: Any, rows: np.ndarray) -> np.ndarray:
        """What is seen now, in an array of its own."""
        found = self.observation.copy()
        found[rows] = np.asarray(seen, np.float32).reshape(found.shape)[rows]
        return found

    def state(self) -> dict[str, Any]:
        return {"begun": self.begun, "clock": self.clock, "taken": self.taken}

    def restore(self, state: dict[str, Any]) -> None:
        begun, clock, taken = state["begun"], state["clock"], state["taken"].copy()
        rows = np.flatnonzero(~np.isnan(begun))
        self.reset(rows, begun[rows, None])
        for step in range(int(clock.max(initial=0))):
            self.step(taken[:, step], clock > step)


def space_of(space: Any) -> Discrete | Continuous:
    """The actions, where learners can take them."""
    if isinstance(space, spaces.Discrete):
        return Discrete(int(space.n))
    if isinstance(space, spaces.Box):
        limit = float(np.max(space.high))
        if np.isfinite(limit) and (space.high == limit).all() and (space.low == -limit).all():
            return Continuous(int(np.prod(space.shape)), limit)
    raise PfedrlError(
        f"actions {space} are neither one whole number nor numbers within one +- limit. Wrap it."
    )
