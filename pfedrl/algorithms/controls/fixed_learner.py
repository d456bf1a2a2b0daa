"""A learner that does not learn."""

from typing import Any

from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner


class FixedLearner(Learner):
    """A policy that is known beforehand, measured where the learners are; it has no parts."""

    @property
    def parts(self) -> Parts:
        return {}

    def advance(self, steps: int) -> None:
        """Nothing is learnt."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing was kept."""
