"""Ditto: a personal model beside the global one, and near it (Li et al. 2021)."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.supervised.fed_avg_by_data import FedAvgByData
from pfedrl.algorithms.supervised.settings import Phase


class Ditto(FedAvgByData):
    """FedAvg; and an epoch of a personal model, pulled towards the global model received."""

    label: ClassVar[str] = "Ditto"
    shares: ClassVar[tuple[str, ...]] = ("global.*",)
    models: ClassVar[tuple[str, ...]] = ("global", "personal")

    pull: float = Field(1.0, ge=0, description="lambda, weight of half the squared distance")

    def phases(self) -> tuple[Phase, ...]:
        return (
            Phase("all", self.local_epochs, self.rate, model="global"),
            Phase("all", 1, self.rate, model="personal", pull=self.pull),
        )
