"""What controls share: nothing is learnt and nothing exchanged; they are looked at once."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.envs.classic.task import ControlFamily
from pfedrl.envs.tabular.task import TabularFamily
from pfedrl.stack.exchange import Exchange, never


class FixedBeforehand(Algorithm):
    """A policy fixed beforehand."""

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1


class TabularControl(FixedBeforehand):
    """On tabular tasks."""

    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    def metrics(self, family: TabularFamily) -> set[str]:
        return family.places()


class ClassicControl(FixedBeforehand):
    """On classic control tasks; under the names of what learners report there."""

    kinds: ClassVar[frozenset[str]] = frozenset({"classic_control"})

    def metrics(self, family: ControlFamily) -> set[str]:
        own = {"training_return", "greedy_return", "greedy_return_average", "return_average"}
        new = {"held_out_objective", "adapt_training_return", "adapt_greedy_return",
               "adapt_return_average"}  # fmt: skip
        return own | {"return_median", "objective"} | (new if family.newcomers else set())
