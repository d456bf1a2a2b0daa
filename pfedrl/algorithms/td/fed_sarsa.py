"""FedSARSA: on-policy learning, averaged every K steps (Zhang et al. 2024, 2401.15273).

The paper has linear features and a policy improvement operator that is Lipschitz; here the features
are one entry a state and action, and the operator is a softmax of the agent's own values. Its
projection to a ball is left out: a table with bounded rewards stays bounded.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.td.fedq_k import FedQ
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange, server_average

if TYPE_CHECKING:
    from pfedrl.algorithms.td.sarsa import TableSarsa


class FedSarsa(FedQ):
    """Agents act by a softmax of their own tables and learn from what they do; the server averages
    the tables after every K steps."""

    label: ClassVar[str] = "FedSARSA"

    temperature: float = Field(1.0, gt=0, description="of the softmax; small: nearly greedy")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "TableSarsa":  # type: ignore[override]
        from pfedrl.algorithms.td.sarsa import TableSarsa

        return TableSarsa(task, seeds, self.local_steps, self.eta, self.temperature)

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return server_average(every=1, shares=("table",))
