"""What controls with continuous actions share: nothing is learnt, they are looked at once."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from pfedrl.algorithms.controls.fixed_beforehand import FixedBeforehand
from pfedrl.envs.family import Family

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_action import MakeAct
    from pfedrl.stack.learner import Learner


class ActionControl(FixedBeforehand):
    """A way of acting that is known beforehand."""

    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})

    evaluation_episodes: int = Field(30, gt=0, description="episodes of each agent's evaluation")

    @abstractmethod
    def make_act(self, task: Any) -> "MakeAct":
        """How members of the stack act."""

    def metrics(self, family: Family) -> set[str]:
        return {"return"} | family.records()

    def learner(self, task: Any, seeds: Sequence[int]) -> "Learner":
        from pfedrl.algorithms.controls.fixed_action import FixedAction

        return FixedAction(task, seeds, self.make_act(task), self.evaluation_episodes)
