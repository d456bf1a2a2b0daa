"""Averaging in two layers: a region often, all rarely. FedKL leaves it to the future.

FedKL's paper names hierarchical averaging as future work and points to Liu et al. (2020, ICC).
This is their scheme; agents weigh by their data only where the method's own average does so. What a
region's server sends on to the top is no agent's message, and is not counted.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.mixing import ServerAverage
from pfedrl.stack.regions import Regions


class TwoLayers(ExchangeOnly):
    """Agents average within their region in every round, and all of them in every few rounds."""

    label: ClassVar[str] = "Two layers"

    regions: int = Field(2, gt=0, description="of equally many agents, in their order")
    rarely: int = Field(5, gt=0, description="rounds from one average of all to the next")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        assert isinstance(average.mixing, ServerAverage)
        mixing = Regions(average.mixing, self.regions, self.rarely)
        return SharedParts(average.shares, mixing, average.steps)

    def metrics(self, family: Any) -> set[str]:
        """Agents of unlike regions differ: tables, and nets after rounds of episodes, are scored in
        all pairs of an agent and a place too."""
        found: set[str] = super().metrics(family)  # type: ignore[misc]
        pairs = "settled_at" in found or getattr(self, "unit", "") == "episode"
        places = found & {"objective", "held_out_objective"} if pairs else set()
        return found | {f"baseline_{place}" for place in places}
