"""SCAFFLSA: federated TD without the bias of unlike agents (Mangold et al. 2024, 2402.04114).

theta_i <- theta_i - eta (A_i theta_i - b_i - xi_i), H times; the server averages; then
xi_i <- xi_i + (mean - theta_i) / (eta H). Here A_i and b_i are of TD(0) on a table.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.td.fed_td import FedTD
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.linear_corrections import LinearCorrections

if TYPE_CHECKING:
    from pfedrl.algorithms.td.corrected_td import CorrectedTD


class Scafflsa(FedTD):
    """FedTD, and every agent's steps are corrected by how far it drifted from the mean before."""

    label: ClassVar[str] = "SCAFFLSA"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "CorrectedTD":
        from pfedrl.algorithms.td.corrected_td import CorrectedTD

        return CorrectedTD(task, seeds, self.local_steps, self.weight_steps())

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return LinearCorrections(lambda round: self.weight_steps().at(round) * self.local_steps)
