"""What the training loop asks of a learner."""

from collections.abc import Iterable
from typing import Any, Protocol

from pfedrl.core.measurement import Measurement
from pfedrl.stack.exchange import Parts


class Learner(Protocol):
    """All agents of all seeds, learning at once."""

    @property
    def parts(self) -> Parts:
        """What could travel: name of a part to its stack [seed, agent, ...]."""

    def advance(self, steps: int) -> None:
        """So many local steps of every agent, on its own experience."""

    def observe(self) -> None:
        """Look at where training stands, once a round, before the round's steps."""

    def measure(self) -> Iterable[Measurement]:
        """What is worth recording now."""

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must keep."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
