"""Averages weighted entry by entry, by how often each agent visited the entry (Woo et al. 2023)."""

from dataclasses import dataclass

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts
from pfedrl.stack.mixing import ServerAverage


@dataclass(frozen=True)
class ByVisits(Exchange):
    """FedAsynQ-ImAvg: weights (1-eta)^-N_i(s,a), N_i the visits since the last exchange.

    An entry that an agent visited often has forgotten more of the common start, and weighs more.
    The visits are a private part beside the shared ones; an exchange clears them.
    """

    eta: float = 0.0

    def __call__(self, parts: Parts) -> None:
        visits = parts["visits"]
        weights = importance(visits, self.eta)
        for name in self.selected(parts):
            parts[name][...] = (weights * parts[name]).sum(axis=1, keepdims=True)
        visits[...] = 0.0


def importance(visits: np.ndarray, eta: float) -> np.ndarray:
    """The weights [seed, agent, entry], summing to 1 over agents."""
    logarithm = -np.log1p(-eta) * visits
    weights = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def by_visits(eta: float) -> ByVisits:
    """After every local step the tables are averaged by visits."""
    return ByVisits(shares=("table",), mixing=ServerAverage(), every=1, eta=eta)
