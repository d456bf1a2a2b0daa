"""Experience: whole episodes of a stack of agents, and whoever can provide them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pfedrl.core.measurement import Measurement


class Experience(NamedTuple):
    """What a stack of A agents lived through; episodes follow one another along the time axis."""

    observations: np.ndarray  # [A, T, observation], as `act` returned them
    actions: np.ndarray  # [A, T, action]
    rewards: np.ndarray  # [A, T], as the environment gave them
    ends: np.ndarray  # [A, T], True at the last step of an episode

    def episode_returns(self) -> np.ndarray:
        """Undiscounted return of each episode [A, episode]; all agents have equally many."""
        total = np.cumsum(self.rewards, axis=1)
        at_ends = total[self.ends].reshape(len(total), -1)
        return np.diff(at_ends, axis=1, prepend=0.0)


class Act(Protocol):
    """How the stack acts: raw observations [A, E, observation] to filtered ones and actions.

    Where only some members act, the rows of the others are filled with anything: for them nothing
    is taken in and nothing drawn.
    """

    def __call__(
        self, observations: np.ndarray, acting: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]: ...


class Source(Protocol):
    """Where experience comes from: separate environments, or one that all agents share."""

    seeds: int
    agents: int
    horizon: int
    observation_size: int
    action_size: int

    def collect(
        self,
        seed: np.ndarray,
        agent: np.ndarray,
        episodes: int,
        act: Act,
        generators: Sequence[np.random.Generator],
    ) -> Experience:
        """So many whole episodes of each member of the stack.

        Member i is agent `agent[i]` of seed row `seed[i]` and draws from `generators[i]`. Episodes
        may be lived side by side: `act` takes E observations of every member at once.
        """

    def measurements(self, at: int) -> Iterable[Measurement]:
        """What the source itself knows of the episodes collected last, at round `at`."""
