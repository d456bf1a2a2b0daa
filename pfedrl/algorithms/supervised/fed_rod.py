"""FedRoD: one body, a generic and a personal head (Chen and Chao 2022).

The original's losses: a balanced softmax for body and generic head, and the sum of both heads'
outputs for the personal one, which leaves the body alone. As it does, it can be trained after them
instead of beside them.
"""

from typing import ClassVar

from pfedrl.algorithms.supervised.fed_avg_by_data import FedAvgByData
from pfedrl.algorithms.supervised.settings import Phase


class FedRoD(FedAvgByData):
    """FedAvg with a balanced softmax; and a private head, whose outputs are added."""

    label: ClassVar[str] = "FedRoD"
    second_head: ClassVar[bool] = True

    def phases(self) -> tuple[Phase, ...]:
        return (
            Phase("all", self.local_epochs, self.rate, balanced=True),
            Phase("personal", self.local_epochs, self.rate),
        )
