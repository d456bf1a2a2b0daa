"""The coordinate-wise trimmed mean in the place of the mean (Yin et al. 2018, arXiv 1803.01498)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import Server


class TrimmedServer(Server):
    """The mean of every number without its largest and smallest values."""

    def __init__(self, average: SharedParts, share: float):
        super().__init__(average)
        self.share = share

    def combined(self, messages: np.ndarray) -> np.ndarray:
        senders = messages.shape[1]
        cut = int(self.share * senders)
        return np.sort(messages, axis=1)[:, cut : senders - cut].mean(axis=1)


class TrimmedMean(ExchangeOnly):
    """The server drops the largest and the smallest values of every weight and averages the
    rest."""

    label: ClassVar[str] = "Trimmed mean"

    trim: float = Field(0.2, ge=0, lt=0.5, description="share of the agents dropped at each end")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return TrimmedServer(average, self.trim)
