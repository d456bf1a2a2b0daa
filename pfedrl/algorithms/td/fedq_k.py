"""FedQ-K: QAvg from samples, K Markovian steps between averages (Khodadadian et al. 2022)."""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.td.independent_q import IndependentQ
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange, server_average


class FedQ(IndependentQ):
    """Tabular Q-learning from samples, Q tables averaged after every K steps."""

    label: ClassVar[str] = "FedQ-K"

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return server_average(every=1, shares=("table",))
