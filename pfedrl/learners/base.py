"""What the training loop asks of a learner."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from pfedrl.exchange.exchange import Parts

Measurements = Mapping[str, np.ndarray]  # metric to [seed], or [seed, agent]


class Learner(Protocol):
    """All agents of all seeds, learning at once."""

    axis: ClassVar[str]  # what a local step counts: "iteration", "episode", "frame"
    parts: Parts  # what could travel

    def advance(self, steps: int) -> None:
        """So many local steps of every agent, on its own experience."""

    def observe(self) -> None:
        """Look at where training stands, once a round, before the round's steps."""

    def measure(self) -> Measurements:
        """What is worth recording now."""

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must keep."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
