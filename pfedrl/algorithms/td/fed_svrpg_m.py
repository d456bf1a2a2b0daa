"""FedSVRPG-M: policy gradients with momentum and little variance (Wang et al. 2024, 2405.19499).

K times, from a trajectory tau of the agent's policy theta, which began the round at theta_r:

    u = beta g(tau; theta) + (1 - beta) (u_r + g(tau; theta) - w g(tau; theta_r)),
    theta <- theta + eta u,  w = p(tau; theta_r) / p(tau; theta);

then u_{r+1} is the mean of (theta - theta_r) / (eta K), and the server steps along it.

The paper's text could not be had, and codes of others disagree on the sign before w. It is a minus:
w g(tau; theta_r) has the mean of the gradient at theta_r, which u_r estimates too, so that the two
cancel and u has the mean of the gradient at theta.

Ours: softmax policies on tables, as PPO-KL takes many steps on one batch, where w would be a
product of hundreds of ratios; g is GPOMDP's without a baseline; u is zero in the first round; w is
not clipped; the server's step is a multiple of eta K, and 1 is the mean of the agents' policies.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.td.fedq_k import FedQ
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange

if TYPE_CHECKING:
    from pfedrl.algorithms.td.policy_gradient import TablePolicies


class FedSVRPGM(FedQ):
    """Agents climb from the server's policy by trajectories of their own, each step corrected by
    the direction that all of them took in the last round."""

    label: ClassVar[str] = "FedSVRPG-M"

    local_steps: int = Field(gt=0, description="K, steps of each agent a round, a trajectory each")
    beta: float = Field(0.2, gt=0, le=1, description="share of the plain gradient; 1: no momentum")
    horizon: int = Field(20, gt=0, description="transitions of a trajectory, at most")
    server_step: float = Field(1.0, gt=0, description="of the server, in units of eta K")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "TablePolicies":  # type: ignore[override]
        from pfedrl.algorithms.td.policy_gradient import TablePolicies

        return TablePolicies(task, seeds, self.local_steps, self.horizon, self.eta, self.beta)

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        from pfedrl.stack.common_direction import CommonDirection

        return CommonDirection(self.eta * self.local_steps, self.server_step)
