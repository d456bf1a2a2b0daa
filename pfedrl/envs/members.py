"""Families whose members differ in one number: listed, drawn from a range, or evenly in it."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.family import Draws, Family


class MemberFamily(Family):
    """Members that differ in one number: listed, drawn from a range, or evenly in it."""

    later: ClassVar[frozenset[str]] = frozenset({"spread"})

    agents: int = Field(gt=0, description="N, environments trained on")
    members: list[float] = Field(
        default_factory=list,
        description="the agents' numbers, from the first again where agents are more; empty: drawn",
    )
    low: float = Field(description="drawn numbers are U(low, high)")
    high: float
    spread: float | None = Field(
        None, ge=0, description="agent i of N has low + spread i / N; none: numbers are drawn"
    )
    new_members: list[float] = Field(
        default_factory=list, description="the new environments' numbers"
    )
    held_out: int = Field(
        0, ge=0, description="M, new environments, evenly from low to high where none are listed"
    )

    @model_validator(mode="after")
    def range_is_one(self) -> "MemberFamily":
        if self.low > self.high:
            raise ValueError("low must not exceed high")
        return self

    @property
    def newcomers(self) -> int:
        """New environments."""
        return len(self.new_members) or self.held_out

    def draw_settings(self) -> dict[str, Any]:
        said = self.said()
        return {name: value for name, value in super().draw_settings().items() if name in said}

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The number of every member of every seed."""
        number = np.empty((len(seeds), self.agents))
        for row, seed in enumerate(seeds):
            for agent in range(self.agents):
                if self.members:
                    number[row, agent] = self.members[agent % len(self.members)]
                elif self.spread is not None:
                    number[row, agent] = self.low + (agent + 1) * (self.spread / self.agents)
                else:
                    uniform = generator(seed, Purpose.ENVIRONMENT, agent).random()
                    number[row, agent] = self.low + (self.high - self.low) * uniform
        new = np.array(self.new_members or np.linspace(self.low, self.high, self.held_out))
        return {"training": number, "held_out": np.tile(new, (len(seeds), 1))}
