"""What controls share: nothing is learnt and nothing exchanged; they are looked at once."""

from collections.abc import Sequence
from typing import Any

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.envs.members import MemberFamily
from pfedrl.stack.exchange import Exchange, never


class FixedBeforehand(Algorithm):
    """A policy fixed beforehand."""

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1


def stepped_metrics(family: MemberFamily) -> set[str]:
    """Where members are stepped in, under the names of what learners report there."""
    own = {"training_return", "greedy_return", "greedy_return_average", "return_average"}
    new = {"held_out_objective", "adapt_training_return", "adapt_greedy_return",
           "adapt_return_average"}  # fmt: skip
    return own | {"return_median", "objective"} | (new if family.newcomers else set())
