"""The coordinate-wise median in the place of the mean (Yin et al. 2018, arXiv 1803.01498)."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import Server


class MedianServer(Server):
    """Every number is the median of the agents'."""

    def combined(self, messages: np.ndarray) -> np.ndarray:
        return np.median(messages, axis=1)


class CoordinateMedian(ExchangeOnly):
    """The server sends the median of every weight: fewer than half of the agents cannot move it
    beyond what the others sent."""

    label: ClassVar[str] = "Median"

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return MedianServer(average)
