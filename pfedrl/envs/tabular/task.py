"""Tabular tasks: known transitions, so that values are solved for and not sampled.

Every array here has the seed on its last axis (see learners/tabular_kernels.py); what the rest of
the code sees as a stack [seed, agent, ...] is a view with that axis moved to the front.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.family import Draws, Family


@dataclass(frozen=True)
class Members:
    """Transitions P_k(j | s, a) as [member, (s*A + a)*J + j, seed]."""

    training: np.ndarray  # a member an agent
    centre: np.ndarray | None  # P_0, one member; None where there is no centre
    held_out: np.ndarray  # members nobody trains on; may be none


@dataclass(frozen=True)
class TabularTask:
    """The environments of all seeds: who trains where, and where the result is looked at."""

    members: Members
    states: int
    actions: int
    gamma: float
    successors: np.ndarray  # [s*A + a, j]: the state that move j leads to, the same for all
    reward: np.ndarray  # [s*A + a, seed]
    start: np.ndarray  # d0 [s]
    score_shift: float = 0.0
    score_scale: float = 1.0
    policies: np.ndarray | None = None  # evaluated, not learnt: [agent, s*A + a]; None: uniform
    terminal: np.ndarray | None = None  # states that end an episode, [s]; None: it never ends
    restart: np.ndarray | None = None  # where sampled episodes begin, [s]; None: at d0

    @property
    def training(self) -> np.ndarray:
        return self.members.training

    @property
    def agents(self) -> int:
        return len(self.training)

    @property
    def seeds(self) -> int:
        return self.reward.shape[1]

    def at_start(self, values: np.ndarray) -> np.ndarray:
        """Values [member, s, seed] from d0, averaged over members: [seed].

        Added up in one order: einsum's depends on the shape, and a seed alone would differ in its
        last bits from the same seed in a block.
        """
        total = np.zeros(values.shape[-1])
        for member in values:
            for state in np.flatnonzero(self.start):
                total += self.start[state] * member[state]
        return total / len(values)

    def score(self, values: np.ndarray) -> np.ndarray:
        """Values in the units in which they are reported."""
        return (values + self.score_shift) * self.score_scale

    def places(self) -> dict[str, np.ndarray]:
        """Where a model is looked at: the metric's name to members, those that exist."""
        places = {"objective": self.training, "held_out_objective": self.members.held_out}
        if self.members.centre is not None:
            places["centre_value"] = self.members.centre
        return {name: members for name, members in places.items() if len(members)}

    def evaluation_policies(self) -> np.ndarray:
        """The policy that each agent evaluates, [agent, s*A + a]."""
        rows = self.states * self.actions
        uniform = np.full((self.agents, rows), 1.0 / self.actions)
        return uniform if self.policies is None else self.policies

    def terminal_states(self) -> np.ndarray:
        return np.zeros(self.states, bool) if self.terminal is None else self.terminal

    def restarts(self) -> np.ndarray:
        return self.start if self.restart is None else self.restart

    def imaginary(self) -> np.ndarray:
        """The imaginary environment M_I (Section 5.1): the average of the transitions."""
        return self.training.mean(axis=0, keepdims=True)

    def dense(self, members: np.ndarray) -> np.ndarray:
        """Transitions as [seed, member, s, a, s'], for whoever wants plain matrices."""
        count = self.successors.shape[1]
        moves = members.reshape(len(members), self.states * self.actions, count, self.seeds)
        out = np.zeros((self.seeds, len(members), self.states * self.actions, self.states))
        for row, targets in enumerate(self.successors):
            for j, target in enumerate(targets):
                out[:, :, row, target] += moves[:, row, j].T
        return out.reshape(self.seeds, len(members), self.states, self.actions, self.states)


class TabularFamily(Family):
    """What tabular families share: N agents, M held-out members, a centre with noise of size kappa.

    Around the centre P_0 the members are (1 - kappa) P_0 + kappa P_k (Section 7.2).
    """

    kind: ClassVar[str] = "tabular"
    after_draw: ClassVar[frozenset[str]] = frozenset(
        {"gamma", "kappa", "centre_trains", "score_shift", "score_scale"}
    )

    agents: int = Field(5, gt=0, description="N, environments trained on")
    distinct: int | None = Field(
        None, gt=0, description="how many of the N differ, the others being copies; unset: all"
    )
    held_out: int = Field(0, ge=0, description="M, new environments to generalise to")
    gamma: float = Field(gt=0, lt=1, description="discount")
    around_centre: bool = Field(False, description="members are noisy copies of one centre")
    kappa: float = Field(1.0, ge=0, le=1, description="size of the noise; 1 is noise alone")
    centre_trains: bool = Field(
        True, description="the centre is one of the N, as in the code; else N noisy copies"
    )
    score_shift: float = Field(0.0, description="added to a value before it is reported")
    score_scale: float = Field(1.0, description="multiplies it after that")

    def places(self) -> set[str]:
        """The names of what `TabularTask.places` holds."""
        found = {"held_out_objective": self.held_out > 0, "centre_value": self.around_centre}
        return {"objective"} | {name for name, there in found.items() if there}

    def uniforms(self, seeds: Sequence[int], sizes: Sequence[int]) -> list[np.ndarray]:
        """U(0,1) numbers [size, seed] for each member, each from a generator of its own."""
        out = [np.empty((size, len(seeds))) for size in sizes]
        for column, seed in enumerate(seeds):
            for member, size in enumerate(sizes):
                out[member][:, column] = generator(seed, Purpose.ENVIRONMENT, member).random(size)
        return out

    def noise_members(self) -> int:
        """Members drawn besides the centre: enough whether or not the centre trains."""
        return (self.distinct or self.agents) + self.held_out

    @abstractmethod
    def successors(self) -> np.ndarray:
        """[s*A + a, j]: the state that each move leads to."""

    def populate(self, centre: np.ndarray | None, noise: np.ndarray) -> Members:
        """Who trains where, from the drawn moves [member, row, seed]."""
        if self.distinct is not None:
            copies = np.arange(self.agents) % self.distinct
            noise = noise[np.concatenate([copies, np.arange(self.distinct, len(noise))])]
        if centre is None:
            return Members(noise[: self.agents], None, noise[self.agents :])
        mixed = (1 - self.kappa) * centre + self.kappa * noise
        training = mixed[: self.agents]
        if self.centre_trains:
            training = np.concatenate([centre, mixed[: self.agents - 1]])
        return Members(training, centre, mixed[self.agents :])


def seed_first(array: np.ndarray) -> np.ndarray:
    """[..., seed] as a view [seed, ...]."""
    return np.moveaxis(array, -1, 0)


def drawn(draws: Draws, name: str) -> np.ndarray:
    """A drawn array [seed, ...] with the seed moved to the last axis, contiguous."""
    return np.ascontiguousarray(np.moveaxis(draws[name], 0, -1))
