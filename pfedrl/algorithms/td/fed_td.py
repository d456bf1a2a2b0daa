"""FedTD: the server averages value tables (Khodadadian et al. 2022; Dal Fabbro et al. 2023)."""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.td.td import TD
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange, server_average


class FedTD(TD):
    """Tabular TD(0), averaged after every K steps: one value function for all agents."""

    label: ClassVar[str] = "FedTD"

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return server_average(every=1)
