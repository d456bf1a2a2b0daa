"""What controls share: nothing is learnt and nothing exchanged; they are looked at once."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pfedrl.algorithms.algorithm import Algorithm
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
