"""Averages that trust who has been there: FedAsynQ-ImAvg (Woo et al. 2023)."""

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape


class ByVisits(Exchange):
    """Tables averaged entry by entry after every local step, by importance.

    The visits since the last exchange are a part beside the table: they are sent with it, and
    cleared.
    """

    def __init__(self, eta: float):
        super().__init__()
        self.eta = eta

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        table, visits = parts["table"], parts["visits"]
        weights = importance(visits, self.eta)
        weights /= weights.sum(axis=1, keepdims=True)
        table[...] = (weights * table).sum(axis=1, keepdims=True)
        visits[...] = 0.0
        return np.full(stack_shape(parts), float(bytes_each(parts, ("table", "visits"))))


def importance(visits: np.ndarray, eta: float) -> np.ndarray:
    """(1 - eta)^(-visits) [seed, agent, ...], over the largest of a seed's agents.

    An entry that an agent visited often has forgotten more of the common start, and weighs more;
    where nobody was, all weigh the same.
    """
    logarithm = -np.log1p(-eta) * visits
    return np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
