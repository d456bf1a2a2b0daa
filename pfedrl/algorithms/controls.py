"""What controls share: nothing is learnt and nothing exchanged; they are looked at once."""

from typing import ClassVar

from pfedrl.algorithms.base import Algorithm
from pfedrl.exchange.exchange import Exchange, never


class TabularControl(Algorithm):
    """A policy fixed beforehand."""

    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    def exchange(self) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1
