"""Replay of the whole stack: the last transitions of every row, and batches drawn from them.

Actions are whole numbers or vectors, of any type. That an episode came to its end (terminated) and
that it was cut off by its time limit (truncated) are kept apart; papers differ in which of them
stops the bootstrap.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy")


class Transitions(NamedTuple):
    """Arrays [row, transition, ...]."""

    seen: np.ndarray
    following: np.ndarray
    action: np.ndarray  # [..., number]; a discrete action is one number
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


@kernel
def store(active, seen, following, action, reward, terminated, truncated, kept, size, head):
    """Put one transition of each active row in its place; the oldest gives way."""
    all_seen, all_following, all_action, all_reward, all_terminated, all_truncated = kept
    capacity = all_reward.shape[1]
    for r in range(len(active)):
        if not active[r]:
            continue
        at = head[r]
        all_seen[r, at] = seen[r]
        all_following[r, at] = following[r]
        all_action[r, at] = action[r]
        all_reward[r, at] = reward[r]
        all_terminated[r, at] = terminated[r]
        all_truncated[r, at] = truncated[r]
        head[r] = (at + 1) % capacity
        size[r] = min(size[r] + 1, capacity)


@kernel
def draw(active, uniforms, size, kept, room, batch, stops, truncation_stops):
    """A batch of each active row, with replacement, by uniforms [row, transition]."""
    all_seen, all_following, all_action, all_reward, all_terminated, all_truncated = kept
    seen, following, action, reward, terminated, truncated = batch
    for r in range(len(active)):
        if not active[r]:
            continue
        for b in range(reward.shape[1]):
            i = int(uniforms[r, b] * size[r])
            for j in range(all_seen.shape[2]):
                seen[r, b, room + j] = all_seen[r, i, j]
                following[r, b, room + j] = all_following[r, i, j]
            for j in range(all_action.shape[2]):
                action[r, b, j] = all_action[r, i, j]
            reward[r, b] = all_reward[r, i]
            terminated[r, b] = all_terminated[r, i]
            truncated[r, b] = all_truncated[r, i]
            stops[r, b] = terminated[r, b] or (truncation_stops and truncated[r, b])


class Replay:
    """A row's transitions, and one batch of all rows that every draw fills anew.

    `room` columns stay free before what is seen in a batch: a net's embedding goes there.
    """

    def __init__(
        self, rows: int, capacity: int, batch: int, observations: int, actions: int = 1,
        action_type: type = np.int8, truncation_stops: bool = True, room: int = 0,
    ):  # fmt: skip
        def transitions(count: int, before: int, kind: type) -> Transitions:
            shape = (rows, count)
            return Transitions(
                np.zeros((*shape, before + observations), np.float32),
                np.zeros((*shape, before + observations), np.float32),
                np.zeros((*shape, actions), kind),
                np.zeros(shape, np.float32),
                np.zeros(shape, np.bool_),
                np.zeros(shape, np.bool_),
            )

        self.kept = transitions(capacity, 0, action_type)
        # an action that is an index is a long one in a batch
        whole = np.issubdtype(action_type, np.integer)
        self.batch = transitions(batch, room, np.int64 if whole else action_type)
        self.stops = np.zeros((rows, batch), np.bool_)  # where the batch's bootstrap stops
        self.room, self.truncation_stops = room, truncation_stops
        self.size = np.zeros(rows, np.int64)
        self.head = np.zeros(rows, np.int64)  # where the next transition goes

    def add(
        self, active: np.ndarray, seen: np.ndarray, following: np.ndarray, action: np.ndarray,
        reward: np.ndarray, terminated: np.ndarray, truncated: np.ndarray,
    ) -> None:  # fmt: skip
        """One transition of each active row; action [row, number]."""
        store(
            active, seen, following, action, reward, terminated, truncated, self.kept, self.size,
            self.head,
        )  # fmt: skip

    def sample(self, active: np.ndarray, uniforms: np.ndarray) -> Transitions:
        """A batch of each active row, by its uniforms [row, transition]; `stops` is of the same."""
        draw(
            active, uniforms, self.size, self.kept, self.room, self.batch, self.stops,
            self.truncation_stops,
        )  # fmt: skip
        return self.batch

    def last(self, count: int) -> tuple[Transitions, np.ndarray]:
        """The last transitions, newest first [row, count, ...], and which of them there are."""
        capacity = self.kept.reward.shape[1]
        newest = np.arange(min(count, capacity))
        back = (self.head[:, None] - 1 - newest) % capacity
        rows = np.arange(len(back))[:, None]
        found = Transitions(*(array[rows, back] for array in self.kept))
        return found, newest < self.size[:, None]

    def forget(self) -> None:
        self.size[:] = 0
        self.head[:] = 0

    def state(self) -> dict[str, Any]:
        return {"kept": tuple(self.kept), "size": self.size, "head": self.head}

    def restore(self, state: dict[str, Any]) -> None:
        self.kept = Transitions(*state["kept"])
        self.size, self.head = state["size"], state["head"]
