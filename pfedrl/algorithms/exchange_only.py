"""Algorithms that are an exchange and nothing more, and so run on every method."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pfedrl.core.settings import Settings
from pfedrl.stack.exchange import Exchange, SharedParts

if TYPE_CHECKING:
    from pfedrl.stack.learner import Learner


class ExchangeOnly(Settings):
    """An exchange in the place of a method's plain average.

    The registry puts it on every method's averaging algorithm: 'dqn/fed_avgm' is FedAvgM on
    DQNAvg, whose settings, learner and shared parts it keeps.
    """

    if TYPE_CHECKING:  # the method's

        def learner(self, task: Any, seeds: Sequence[int]) -> Learner: ...

    @abstractmethod
    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        """What agents do in the place of this average."""

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        average = super().exchange(task, seeds)  # type: ignore[misc]
        return self.instead(average, seeds) if isinstance(average, SharedParts) else average


class GradientExchange(ExchangeOnly):
    """An exchange that also hands every agent a vector, which its gradients are corrected by.

    It runs on the methods whose learners take gradient steps: see `stack.corrections`.
    """

    def learner(self, task: Any, seeds: Sequence[int]) -> "Learner":
        from pfedrl.stack.corrections import corrected

        return corrected(super().learner(task, seeds))
