"""The step: what environments of every family offer to any learner, all rows at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pfedrl.core.seeds import Purpose, generator


@dataclass(frozen=True)
class Discrete:
    """An action is one whole number below `count`."""

    count: int
    size: int = 1


@dataclass(frozen=True)
class Continuous:
    """An action is `size` numbers within +-`limit`; what lies beyond is cut, or paid for."""

    size: int
    limit: float


class Environments(Protocol):
    """Rows of environments, each somewhere in an episode of its own.

    A start is all that chance decides of an episode: from the same start the same actions lead to
    the same end. Nothing starts anew by itself: after a step the last observation of an episode is
    there to be stored, and whoever steps resets the rows that are over. Rows that rest stay where
    they are; their reward and flags mean nothing.
    """

    observation_size: int
    cap: int  # steps after which an episode is truncated
    observation: np.ndarray  # [row, number], now; a step leaves the one before in its own array
    reward: np.ndarray  # [row], of the last step
    terminated: np.ndarray  # [row]: the task itself came to an end
    truncated: np.ndarray  # [row]: its time was up; it may have come to an end as well

    @property
    def action_space(self) -> Discrete | Continuous:
        """What actions there are."""

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        """Starts [row, number], each from its own generator; of every row, or of some."""

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        """New episodes of rows [index], from starts [index, number]."""

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        """One step of the active rows, by actions [row, number]."""

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must keep."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""


class SteppedTask(Protocol):
    """The members of a family that agents step in: a dataclass, of all seeds."""

    @property
    def training(self) -> np.ndarray:
        """The members that agents train in, in any description: [seed, agent, ...]."""

    @property
    def held_out(self) -> np.ndarray:
        """Members that nobody trains in: [seed, member, ...]."""

    @property
    def seeds(self) -> int: ...

    @property
    def agents(self) -> int: ...

    def environments(self) -> Environments:
        """Every agent of every seed in its member, [seed, agent] flattened."""

    def evaluation(self, members: np.ndarray) -> Environments:
        """These members [row, ...], for episodes as long as an evaluation's."""

    def newcomers(self) -> "SteppedTask":
        """The members that nobody trains on, each with an agent."""


def evaluation_starts(
    environments: Environments, seeds: Sequence[int], members: int, episodes: int, at: int,
    first: int,
) -> np.ndarray:  # fmt: skip
    """Starts [seed, member, episode, number]; each evaluation has its own, in any block."""
    generators = [
        generator(seed, Purpose.EVALUATION, first + member, at)
        for seed in seeds
        for member in range(members)
    ]
    drawn = environments.starts([each for each in generators for _ in range(episodes)])
    return drawn.reshape(len(seeds), members, episodes, -1)


def rollout(
    environments: Environments, starts: np.ndarray, act: Callable[[np.ndarray], np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One episode of every row: at each step the rewards [row], and which episodes were still on.

    `act` gives actions [row, number] by observations [row, number].
    """
    environments.reset(np.arange(len(starts)), starts)
    active = np.ones(len(starts), np.bool_)
    while active.any():
        environments.step(act(environments.observation), active)
        yield np.where(active, environments.reward, 0.0), active
        active = active & ~environments.terminated & ~environments.truncated


def episode_returns(
    environments: Environments, starts: np.ndarray, act: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Undiscounted returns [row]."""
    total = np.zeros(len(starts))
    for reward, _ in rollout(environments, starts, act):
        total += reward
    return total
