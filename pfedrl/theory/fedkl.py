"""FedKL's quantities on small tasks, exact: advantages, visitation, the level of heterogeneity.

Notation as in the paper's Sections II and III; q_k = 1/N. Arrays are [seed, agent, ...].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.core.seeds import Purpose, generator
from pfedrl.theory.instances import Instances, backup, draw, simplex, under, values
from pfedrl.theory.statement import Statement


@dataclass(frozen=True)
class Tasks:
    """Agents with a start distribution and transitions each, and a global policy pi^t."""

    drawn: Instances
    starts: np.ndarray  # mu_n [seed, agent, s]
    proposed: np.ndarray  # another policy, [seed, s, a]

    @property
    def policy(self) -> np.ndarray:
        return self.drawn.policy

    @property
    def gamma(self) -> float:
        return self.drawn.gamma

    def visitation(self, policy: np.ndarray) -> np.ndarray:
        """rho_{pi, mu_n, P_n}, unnormalised (8): [seed, agent, s]."""
        system = np.eye(self.drawn.states) - self.gamma * under(policy, self.drawn.moves)
        return np.linalg.solve(np.swapaxes(system, -1, -2), self.starts[..., None])[..., 0]

    def returns(self, policy: np.ndarray) -> np.ndarray:
        """eta_n(pi), [seed, agent]."""
        value = values(policy, self.drawn.moves, self.drawn.reward, self.gamma)
        return (self.starts * value).sum(axis=-1)

    def advantages(self, policy: np.ndarray) -> np.ndarray:
        """A_{pi, P_n}, [seed, agent, s, a]."""
        drawn = self.drawn
        value = values(policy, drawn.moves, drawn.reward, drawn.gamma)
        return backup(value, drawn.moves, drawn.reward, drawn.gamma) - value[..., None]


@dataclass(frozen=True)
class Quantities:
    """What a round of the theory needs, at a global policy pi."""

    visitation: np.ndarray  # rho [seed, agent, s]
    advantage: np.ndarray  # A [seed, agent, s, a]
    deviation: np.ndarray  # B of Definition I, [seed, agent, s, a]
    gamma: float

    @classmethod
    def at(cls, tasks: Tasks, policy: np.ndarray) -> "Quantities":
        visitation, advantage = tasks.visitation(policy), tasks.advantages(policy)
        average = (visitation[..., None] * advantage).mean(axis=1, keepdims=True)
        deviation = average / visitation[..., None] - advantage  # (17)
        return cls(visitation, advantage, deviation, tasks.gamma)

    def policy_advantage(self, proposed: np.ndarray) -> np.ndarray:
        """(15) for one policy [seed, s, a] on all agents, or one each: [seed, agent]."""
        other = proposed if proposed.ndim == 4 else proposed[:, None]
        return (self.visitation[..., None] * other * self.advantage).sum(axis=(2, 3))

    def level(self) -> np.ndarray:
        """||B||_F, [seed, agent]."""
        return np.sqrt((self.deviation**2).sum(axis=(2, 3)))

    def potential(self) -> np.ndarray:
        """||A||_F, [seed, agent]."""
        return np.sqrt((self.advantage**2).sum(axis=(2, 3)))

    def alpha(self) -> np.ndarray:
        return 2 * self.level()

    def beta(self) -> np.ndarray:
        """Corollary II's, [seed, 1]."""
        return self._constants().mean(axis=1, keepdims=True)

    def delta(self) -> np.ndarray:
        """Corollary II's, [seed, agent n]: the agents' visitations weighed by their distance."""
        apart = np.abs(self.visitation[:, :, None] - self.visitation[:, None]).sum(axis=-1) / 2
        return 2 * (self._constants()[:, :, None] * apart).mean(axis=1)

    def _constants(self) -> np.ndarray:
        """4 epsilon_k gamma / (1-gamma)^2, [seed, agent k]."""
        largest = np.abs(self.advantage).max(axis=(2, 3))
        return 4 * largest * self.gamma / (1 - self.gamma) ** 2


def total_variation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """D_TV of two policies in each state."""
    return np.abs(first - second).sum(axis=-1) / 2


class FedKLStatement(Statement):
    """Random tasks: N agents with start distributions and transitions of their own."""

    agents: int = Field(2, gt=1, description="N")
    states: int = Field(3, gt=1)
    actions: int = Field(2, gt=1)
    gamma: float = Field(0.9, gt=0, lt=1)

    def tasks(self, seeds: Sequence[int]) -> Tasks:
        drawn = draw(seeds, self.states, self.actions, self.agents, self.gamma)
        starts = np.empty((len(seeds), self.agents, self.states))
        proposed = np.empty(drawn.policy.shape)
        for row, seed in enumerate(seeds):
            rng = generator(seed, Purpose.INSTANCE, 1)
            starts[row] = simplex(rng, starts.shape[1:], 1.0)
            proposed[row] = simplex(rng, proposed.shape[1:], 1.0)
        return Tasks(drawn, starts, proposed)

    def instance(self, seed: int) -> dict[str, Any]:
        tasks = self.tasks([seed])
        return {
            **tasks.drawn.numbers(),
            "starts": tasks.starts[0].tolist(),
            "proposed": tasks.proposed[0].tolist(),
        }
