"""FedAsynQ-ImAvg: averages that trust who visited an entry (Woo et al. 2023)."""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.td.independent_q import IndependentQ
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.by_visits import ByVisits
from pfedrl.stack.exchange import Exchange


class FedAsynQ(IndependentQ):
    """Tabular Q-learning from samples, averaged with a weight for every entry by its visits."""

    label: ClassVar[str] = "FedAsynQ-ImAvg"

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return ByVisits(self.eta)
