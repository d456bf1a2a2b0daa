"""What is known of members that gymnasium makes: only what trying them shows."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pfedrl.envs.environments import Discrete, episode_returns
from pfedrl.envs.gymnasium_tasks.rows import SEEDS, GymEnvironments

TRIED, BEST, TURNS = 48, 8, 4  # policies tried in a turn, those kept of them, and turns
LOOKED = 8  # random episodes that show how far observations go


class GymPhysics:
    """In the place of `classic.task.Physics`. A state of interest is a start, as its seed; what an
    action changes there is how the observation changes."""

    def __init__(self, make: Callable[[np.ndarray], Any], cap: int, member: np.ndarray):
        self.make, self.cap, self.member = make, cap, member

    def rows(self, members: np.ndarray) -> GymEnvironments:
        return GymEnvironments(self.make, members, self.cap)

    def limit(self) -> np.ndarray:
        """Random episodes of one member stay within +- this, and nothing beyond twice of it is of
        interest: [number]."""
        random = np.random.default_rng(0)
        rows = self.rows(np.repeat(self.member[None], LOOKED, axis=0))
        largest = np.full(rows.observation_size, 1e-6)

        def act(seen: np.ndarray) -> np.ndarray:
            np.maximum(largest, np.abs(seen).max(axis=0), out=largest)
            return uniform(rows, random)

        episode_returns(rows, rows.starts([random] * LOOKED), act)
        return 2.0 * largest

    def placed(self, starts: np.ndarray) -> np.ndarray:
        return starts

    def best(self, member: np.ndarray, start: np.ndarray) -> float:
        """The best return that a search among linear policies finds from a start.

        The cross-entropy method: attainable, as a policy attained it, and no upper bound.
        """
        random = np.random.default_rng(int(start[0]))
        rows = self.rows(np.repeat(member[None], TRIED, axis=0))
        space = rows.action_space
        outputs = space.count if isinstance(space, Discrete) else space.size
        mean, spread = np.zeros((rows.observation_size + 1, outputs)), 1.0
        found = -np.inf
        for _ in range(TURNS):
            tried = mean + spread * random.standard_normal((TRIED, *mean.shape))
            starts = np.repeat(start[None], TRIED, axis=0)
            returns = episode_returns(rows, starts, linear(rows, tried))
            order = np.argsort(-returns, kind="stable")[:BEST]
            mean, spread = tried[order].mean(axis=0), tried[order].std(axis=0) + 0.01
            found = max(found, float(returns.max()))
        return found

    @cached_property
    def example(self) -> GymEnvironments:
        return self.rows(self.member[None])

    @property
    def STATE(self) -> int:  # noqa: N802 (named as the other's)
        return self.example.observation_size

    @property
    def actions(self) -> int:
        space = self.example.action_space
        return space.count if isinstance(space, Discrete) else 0

    @property
    def box(self) -> np.ndarray:
        return np.ones(self.STATE)

    def step(
        self, state: np.ndarray, action: np.ndarray, members: np.ndarray, *rest: np.ndarray
    ) -> None:
        """Add to each state [row, number] what its action changes of the observation at the start
        that the state's first number stands for."""
        rows, everyone = self.rows(members), np.ones(len(members), np.bool_)
        rows.reset(np.arange(len(members)), np.floor(np.abs(state[:, :1]) * SEEDS))
        before = rows.observation
        rows.step(action[:, None], everyone)
        state += rows.observation - before


def uniform(rows: GymEnvironments, random: np.random.Generator) -> np.ndarray:
    """An action of every row."""
    space, shape = rows.action_space, (len(rows.clock), rows.action_space.size)
    if isinstance(space, Discrete):
        return random.integers(space.count, size=shape)
    return random.uniform(-space.limit, space.limit, shape)


def linear(rows: GymEnvironments, weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Policies [row, number + 1, output]: the largest output's action, or the outputs, cut."""

    def act(seen: np.ndarray) -> np.ndarray:
        outputs = np.einsum("rn,rno->ro", seen, weights[:, :-1]) + weights[:, -1]
        if isinstance(rows.action_space, Discrete):
            return outputs.argmax(axis=1)[:, None]
        return np.clip(outputs, -rows.action_space.limit, rows.action_space.limit)

    return act
