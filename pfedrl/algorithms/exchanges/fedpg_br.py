"""FedPG-BR's filter: agents far from the vector median are left out (Fan et al. 2021, 2110.14074).

Its aggregation alone (Algorithm 1.1), not its policy gradient. The paper filters gradients, and its
authors' code fixes sigma by hand for every environment. Messages here are models, whose scale
differs by method, so sigma is measured in every round: in units of the median distance between two
messages, which is our choice.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import Server, distances


class FilterServer(Server):
    """The mean of the messages near the vector median; within a wider radius where that leaves too
    few, and all of them where nobody is near half of the others."""

    def __init__(self, average: SharedParts, sigma: float, share: float, liars: float):
        super().__init__(average)
        self.sigma, self.share, self.liars = sigma, share, liars

    def combined(self, messages: np.ndarray) -> np.ndarray:
        return np.stack([
            own[self.good(own, apart)].mean(axis=0)
            for own, apart in zip(messages, distances(messages), strict=True)
        ])  # fmt: skip

    def good(self, messages: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Which messages [sender, number] of a seed are averaged."""
        senders = len(messages)
        others = apart[~np.eye(senders, dtype=bool)]
        sigma = self.sigma * (np.median(others) if others.size else 0.0)
        for radius in (2 * sigma * self.share, 2 * sigma):
            kept = near_the_median(messages, apart, radius)
            if kept.any() and kept.sum() >= (1 - self.liars) * senders:
                return kept
        return kept if kept.any() else np.ones(senders, dtype=bool)


def near_the_median(messages: np.ndarray, apart: np.ndarray, radius: float) -> np.ndarray:
    """The messages within a radius of the vector median: of those with more than half of all within
    it, the one nearest to their mean; none where there is no such message."""
    inside = apart <= radius
    central = np.flatnonzero(inside.sum(axis=1) > 0.5 * len(messages))
    if not len(central):
        return np.zeros(len(messages), dtype=bool)
    away = messages[central] - messages[central].mean(axis=0)
    return inside[central[(away * away).sum(axis=1).argmin()]]


class FedPGBR(ExchangeOnly):
    """The server leaves out agents whose models are far from the others', and averages the rest."""

    label: ClassVar[str] = "FedPG-BR filter"

    sigma: float = Field(
        1.0, gt=0, description="spread of honest messages, in median distances between two"
    )
    concentration: float = Field(
        0.66, gt=0, le=1,
        description="sqrt(2 log(2K / delta) / B), by which the first radius is below 2 sigma; this "
        "one is of K = 10 agents, with delta = 0.6 and B = 16, which are our choice",
    )  # fmt: skip
    liars: float = Field(0.3, ge=0, lt=0.5, description="alpha, share of agents that may lie")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return FilterServer(average, self.sigma, self.concentration, self.liars)
