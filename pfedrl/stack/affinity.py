"""Others' steps, weighted by how often an agent sees what they saw: AffPCL (Zhang and Azizan)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape

SENT = ("seen", "outcome", "errors")


class VisitRatios(Exchange):
    """Agents send their transitions' errors in a common table; everybody steps by them.

    The common table moves by their mean; an agent's own by their sum, each weighted by the share of
    its visits to that transition in all agents' visits, less its own errors. `size(round)` is the
    step size. The server counts the visits.
    """

    def __init__(self, size: Callable[[int], float]):
        super().__init__()
        self.size = size
        self.visits = np.zeros(0)  # [seed, agent, state, outcome]

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        state, outcome, errors = (np.asarray(parts[name]) for name in SENT)
        table, common = parts["table"], parts["common"]
        self._count(state, outcome, table.shape[2])
        agents = table.shape[1]
        shares = self.shares(state, outcome)
        for agent in range(agents):
            weights = shares[:, agent].copy()  # [seed, sender, transition]
            weights[:, agent] -= 1.0
            table[:, agent] += self.size(round) * scattered(state, weights * errors, table.shape[2])
        mean = scattered(state, errors / agents, table.shape[2])
        common += self.size(round) * mean[:, None]
        return np.full(stack_shape(parts), float(bytes_each(parts, SENT)))

    def _count(self, state: np.ndarray, outcome: np.ndarray, states: int) -> None:
        """Visits so far, the round's among them."""
        outcomes = int(outcome.max()) + 1
        if not self.visits.size:
            self.visits = np.zeros((*state.shape[:2], states, outcomes))
        grown = max(outcomes - self.visits.shape[-1], 0)
        self.visits = np.pad(self.visits, ((0, 0), (0, 0), (0, 0), (0, grown)))
        x, i, _ = np.indices(state.shape)
        np.add.at(self.visits, (x, i, state, outcome), 1.0)

    def shares(self, state: np.ndarray, outcome: np.ndarray) -> np.ndarray:
        """Each agent's share in all visits to these transitions: [seed, agent, sender, k]."""
        x = np.arange(len(state))[:, None, None]
        found = np.moveaxis(self.visits[x, :, state, outcome], -1, 1)
        return found / found.sum(axis=1, keepdims=True)

    def state(self) -> dict[str, Any]:
        return {"visits": self.visits}

    def restore(self, state: dict[str, Any]) -> None:
        self.visits = state["visits"]


def scattered(state: np.ndarray, values: np.ndarray, states: int) -> np.ndarray:
    """The sum of values [seed, ...] by the state that each belongs to: [seed, state]."""
    found = np.zeros((len(state), states))
    x = np.arange(len(state)).reshape(-1, *[1] * (state.ndim - 1))
    np.add.at(found, (np.broadcast_to(x, state.shape), state), values)
    return found
