"""Krum: the server sends one agent's model, the one nearest to others (Blanchard et al. 2017)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import Server, distances


class KrumServer(Server):
    """Of n messages, f of which may lie: the one with the smallest sum of squared distances to its
    n - f - 2 nearest others."""

    def __init__(self, average: SharedParts, liars: float):
        super().__init__(average)
        self.liars = liars

    def combined(self, messages: np.ndarray) -> np.ndarray:
        senders = messages.shape[1]
        near = max(senders - int(self.liars * senders) - 2, 1)
        squared = np.sort(distances(messages) ** 2, axis=2)[:, :, 1 : near + 1]  # 0: itself
        best = squared.sum(axis=2).argmin(axis=1)
        return messages[np.arange(len(messages)), best]


class Krum(ExchangeOnly):
    """All agents receive the model of the agent that most of the others are near to."""

    label: ClassVar[str] = "Krum"

    liars: float = Field(0.2, ge=0, lt=0.5, description="share of the agents that may lie")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return KrumServer(average, self.liars)
