"""Independent Q: every agent for itself, from its own samples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.envs.tabular.task import TabularFamily, TabularTask
from pfedrl.stack.exchange import Exchange, never

if TYPE_CHECKING:
    from pfedrl.algorithms.td.q_learner import TableQ


class IndependentQ(Algorithm):
    """Tabular Q-learning under a random sampling policy, without communication."""

    label: ClassVar[str] = "Independent Q"
    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    training_rounds: int = Field(gt=0, description="T, rounds of local steps")
    local_steps: int = Field(gt=0, description="K, transitions of each agent a round")
    eta: float = Field(gt=0, lt=1, description="the constant step size")

    def metrics(self, family: TabularFamily) -> set[str]:
        return {"objective", "megabytes_sent"}

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "TableQ":
        from pfedrl.algorithms.td.q_learner import TableQ

        return TableQ(task, seeds, self.local_steps, self.eta)

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return never()

    def rounds(self) -> int:
        """One look more than rounds of steps: the last look comes after all of them."""
        return self.training_rounds + 1
