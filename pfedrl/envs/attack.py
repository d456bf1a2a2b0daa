"""Agents that lie or do not answer: a setting that every family can be given.

An experiment says it as `family: {name: cartpole, attack: {liars: 0.2}}`. A family without it is
the class that it always was, so that its runs keep their keys and their fingerprints.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from pydantic import Field

from pfedrl.core.settings import Settings
from pfedrl.envs.family import Family
from pfedrl.stack.exchange import Exchange


class Attack(Settings):
    """Who lies in a seed is drawn once; who does not answer, in every round."""

    liars: float = Field(0.0, ge=0, lt=1, description="share of the agents that lie, rounded down")
    lie: Literal["reversed", "noise"] = Field(
        "reversed", description="their update reversed, or noise in its place"
    )
    strength: float = Field(
        1.0, gt=0, description="what a reversed update is multiplied by; of noise, its deviation"
    )
    absent: float = Field(0.0, ge=0, lt=1, description="chance that an agent misses a round")


class Attacked(Family):
    """A family some of whose agents lie or do not answer."""

    attack: Attack

    def attacked(self, exchange: Exchange, seeds: Sequence[int]) -> Exchange:
        from pfedrl.stack.messages import Unreliable

        attack = self.attack
        return Unreliable(exchange, seeds, attack.liars, attack.lie, attack.strength, attack.absent)


@cache
def attacked(family: Any) -> Any:
    """A class of families, with an attack among its settings; what is drawn stays the same."""
    words = {
        "__doc__": family.__doc__, "__module__": family.__module__,
        "after_draw": family.after_draw | {"attack"},
    }  # fmt: skip
    return type(family.__name__, (Attacked, family), words)
