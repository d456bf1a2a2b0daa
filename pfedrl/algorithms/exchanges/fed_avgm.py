"""FedAvgM: the server has momentum (Hsu, Qi and Brown 2019, arXiv 1909.06335)."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import ServerMomentum


class FedAvgM(ExchangeOnly):
    """v <- beta v + mean update; the server's model moves by v."""

    label: ClassVar[str] = "FedAvgM"

    server_momentum: float = Field(0.9, ge=0, lt=1, description="beta; 0: the plain average")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return ServerMomentum(average, self.server_momentum)
