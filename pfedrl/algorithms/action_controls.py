"""What controls with continuous actions share: nothing is learnt, they are looked at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.base import Algorithm
from pfedrl.envs.experience import Source
from pfedrl.exchange.exchange import Exchange, never

if TYPE_CHECKING:
    from pfedrl.learners.fixed_action import FixedAction


class ActionControl(Algorithm):
    """Actions that do not depend on what is seen."""

    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})
    spread: ClassVar[float]  # actions are uniform in +- spread

    evaluation_episodes: int = Field(30, gt=0, description="episodes of each agent's evaluation")

    def learner(self, task: Source, seeds: Sequence[int]) -> "FixedAction":
        from pfedrl.learners.fixed_action import FixedAction

        return FixedAction(task, seeds, self.spread, self.evaluation_episodes)

    def exchange(self) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1
