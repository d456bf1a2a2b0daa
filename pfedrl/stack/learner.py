"""What the training loop asks of a learner."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pfedrl.core.measurement import Measurement
from pfedrl.stack.exchange import Parts

if TYPE_CHECKING:
    from pfedrl.stack.mixing import Array

    Rows = Any  # a slice, indices or a mask


class Learner(ABC):
    """All agents of all seeds, learning at once."""

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What could travel: name of a part to its stack [seed, agent, ...]."""

    @property
    def finished(self) -> np.ndarray:
        """Which seeds are done, [seed] or one for all. Always false for learners that train for a
        fixed number of rounds."""
        return np.zeros(1, bool)

    @abstractmethod
    def advance(self, steps: int) -> None:
        """So many local steps of every agent, on its own experience."""

    def adjust(  # noqa: B027 (most take the gradient as it is)
        self, weights: "Array", gradient: "Array", rows: "Rows", columns: slice, learning: "Rows"
    ) -> None:
        """Change a gradient [row, column] in place, before the optimiser's step on the weights.

        Where both stand in the stack of all agents of all seeds: `rows` of its rows, and the
        `columns` that are trained. `learning`: which of these rows take the step.
        """

    def observe(self) -> None:  # noqa: B027 (most have nothing to watch)
        """Look at where training stands, once a round, before the round's steps."""

    @abstractmethod
    def measure(self) -> Iterable[Measurement]:
        """What is worth recording now."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that a checkpoint must keep."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
