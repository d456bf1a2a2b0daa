"""The ceiling of classic control: the best return known to be attainable."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.controls.fixed_beforehand import FixedBeforehand, stepped_metrics
from pfedrl.envs.classic.task import ControlFamily, ControlTask

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_control import BestKnown


class BestFound(FixedBeforehand):
    """Control: balanced to the cap, or the fastest swing-up that a search finds."""

    label: ClassVar[str] = "Best found"
    kinds: ClassVar[frozenset[str]] = frozenset({"classic_control"})

    def metrics(self, family: ControlFamily) -> set[str]:
        return stepped_metrics(family)

    def learner(self, task: ControlTask, seeds: Sequence[int]) -> "BestKnown":
        from pfedrl.algorithms.controls.fixed_control import BestKnown

        return BestKnown(task, seeds)
