"""FedKL with private critics: an idea that its paper leaves to the future (Xie and Song 2023)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pfedrl.algorithms.ppo_kl.fed_kl import FedKL
from pfedrl.stack.exchange import Exchange, SharedParts

if TYPE_CHECKING:
    from pfedrl.algorithms.ppo_kl.private_critics import PrivateCritics


class FedKLPrivateCritic(FedKL):
    """FedKL, but every agent keeps its own critic, fitted to its own environment."""

    label: ClassVar[str] = "FedKL, private critics"

    def learner(self, task: Any, seeds: Sequence[int]) -> "PrivateCritics":
        from pfedrl.algorithms.ppo_kl.private_critics import PrivateCritics

        return PrivateCritics(task, seeds, self, self.pull(), self.selection(task, seeds))

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        average = super().exchange(task, seeds)
        assert isinstance(average, SharedParts)
        shared = tuple(part for part in average.shares if part != "critic")
        return SharedParts(shared, average.mixing, average.steps)
