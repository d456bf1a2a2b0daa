"""What controls with continuous actions share: nothing is learnt, they are looked at once."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.envs.experience import Act
from pfedrl.envs.family import Family
from pfedrl.stack.exchange import Exchange, never

Generators = Sequence[np.random.Generator]

if TYPE_CHECKING:
    from pfedrl.algorithms.controls.fixed_action import FixedAction, MakeAct


class ActionControl(Algorithm):
    """A way of acting that is known beforehand."""

    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})

    evaluation_episodes: int = Field(30, gt=0, description="episodes of each agent's evaluation")

    @abstractmethod
    def make_act(self, task: Any) -> "MakeAct":
        """How members of the stack act."""

    def metrics(self, family: Family) -> set[str]:
        return {"return"} | family.records()

    def learner(self, task: Any, seeds: Sequence[int]) -> "FixedAction":
        from pfedrl.algorithms.controls.fixed_action import FixedAction

        return FixedAction(task, seeds, self.make_act(task), self.evaluation_episodes)

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1


class UniformActions(ActionControl):
    """Actions that do not depend on what is seen: uniform in +- spread."""

    spread: ClassVar[float]

    def make_act(self, task: Any) -> "MakeAct":
        def make(seed: np.ndarray, agent: np.ndarray, generators: Generators) -> Act:
            def act(
                observations: np.ndarray, acting: np.ndarray | None = None
            ) -> tuple[np.ndarray, np.ndarray]:
                drawn = np.zeros((*observations.shape[:2], task.action_size))
                for member, random in enumerate(generators):
                    if acting is None or acting[member]:
                        size = drawn.shape[1:]
                        drawn[member] = random.uniform(-self.spread, self.spread, size)
                return observations, drawn

            return act

        return make
