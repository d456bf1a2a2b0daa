"""The ceiling: in each environment its own optimal policy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.controls.fixed_beforehand import FixedBeforehand
from pfedrl.envs.tabular.task import TabularFamily, TabularTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_tabular import FixedPolicy


class OptimalPolicy(FixedBeforehand):
    """Control: each environment's own optimal policy, solved exactly; no single policy beats it."""

    label: ClassVar[str] = "Own optimum"
    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    def metrics(self, family: TabularFamily) -> set[str]:
        return family.places()

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "FixedPolicy":
        from pfedrl.algorithms.controls.fixed_tabular import FixedPolicy

        return FixedPolicy(task, optimal=True)
