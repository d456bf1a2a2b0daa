"""AffPCL: everybody's own values, with the others' help (Zhang and Azizan 2025, arXiv 2510.16232).

theta_i <- theta_i + alpha (g_i(theta_i) + mean_j rho_i(z_j) g(theta_c; z_j) - g(theta_c; z_i)),
theta_c <- theta_c + alpha mean_j g(theta_c; z_j); z_j is what agent j saw, g the step of TD(0), and
rho_i how much more often agent i sees it than all do on average. What follows g_i has mean zero, so
that each agent keeps its own fixed point, and takes noise away where agents see alike.

The paper's text could not be had; these steps are those of a public implementation of its
experiments with SARSA. Three things are ours: a transition, not a state and action, is what is
counted, as otherwise environments with other moves would shift the fixed point; counts start at
zero; and where K is above 1, a round takes the sum of K transitions' steps from one table.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.td.td import TD
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange

if TYPE_CHECKING:
    from pfedrl.algorithms.td.affinity_td import AffinityTD


class AffPCL(TD):
    """TD of one's own, and a common table's steps, weighted by visits, less one's own share."""

    label: ClassVar[str] = "AffPCL"

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "AffinityTD":
        from pfedrl.algorithms.td.affinity_td import AffinityTD

        return AffinityTD(task, seeds, self.local_steps, self.weight_steps())

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        from pfedrl.stack.affinity import VisitRatios

        return VisitRatios(lambda round: self.weight_steps().at(round))
