"""What every environment family has: settings, draws that depend on the seed only, and a task."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pfedrl.core.settings import Settings

if TYPE_CHECKING:
    from pfedrl.stack.exchange import Exchange

Draws = dict[str, np.ndarray]  # each [seed, ...]


class Family(Settings):
    """Environments that differ in what the family varies.

    `draw` makes what is random and is cached by `pfedrl build`; `task` turns it into the stack of
    environments that learners see. Settings in `after_draw` shape the task but not the draws, so
    that cells which differ only in them share one file of draws.
    """

    label: ClassVar[str]
    kind: ClassVar[str]  # which learners fit: "tabular", ...
    varies: ClassVar[str]  # the parameter that differs between members, and its range
    after_draw: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def draw(self, seeds: Sequence[int]) -> Draws:
        """Everything random about the members, one row a seed."""

    @abstractmethod
    def task(self, draws: Draws) -> Any:
        """The environments of all seeds and agents."""

    def attacked(self, exchange: "Exchange", seeds: Sequence[int]) -> "Exchange":
        """What becomes of an exchange where some agents lie or do not answer; here all do."""
        return exchange

    def skip(self) -> str | None:
        """Why its members cannot be made here, or None: data that are missing, say."""
        return None

    def records(self) -> set[str]:
        """The metrics that its task records, besides those of whoever acts in it."""
        return set()

    def draw_settings(self) -> dict[str, Any]:
        """The settings that the draws depend on."""
        return self.model_dump(mode="json", exclude=set(self.after_draw))
