"""Any environment of gymnasium's, by its id, with named parameters that differ between members.

Slower than the families of this project, whose rows are stepped in one compiled call: here every
row is an environment of its own, stepped in turn by gymnasium's vector interface. A step of 50
CartPoles takes 0.75 ms, and 0.01 ms there; a DQN step of their 50 agents takes about 1.2 ms beside
it. Whether its numbers are the same bits on every processor is up to the environment.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pfedrl.core.seeds import Purpose, generator
from pfedrl.core.settings import Settings
from pfedrl.envs.family import Draws, Family
from pfedrl.envs.gymnasium_tasks.task import GymTask


class Parameter(Settings):
    """What differs between members, and how an environment is told."""

    through: Literal["attribute", "make", "wrapper"] = Field(
        "attribute",
        description="an attribute of the unwrapped environment, set before every reset; an "
        "argument of gymnasium.make; or an argument of a wrapper",
    )
    low: float = Field(description="drawn numbers are U(low, high)")
    high: float
    members: list[float] = Field(
        default_factory=list, description="the agents' numbers, from the first again; empty: drawn"
    )
    also: dict[str, float] = Field(
        default_factory=dict,
        description="further attributes that follow from it, as so many times its number",
    )
    wrapper: str = Field("", description="the wrapper, as in package.module:Class")

    @model_validator(mode="after")
    def fits(self) -> "Parameter":
        if self.low > self.high:
            raise ValueError("low must not exceed high")
        if (self.through == "wrapper") != bool(self.wrapper):
            raise ValueError("through: wrapper needs the name of one, and nothing else does")
        if self.also and self.through != "attribute":
            raise ValueError("also is of attributes")
        return self

    def number(self, seed: int, agent: int, place: int) -> float:
        """An agent's, where this parameter is the family's so-manieth."""
        if self.members:
            return self.members[agent % len(self.members)]
        uniform = generator(seed, Purpose.ENVIRONMENT, agent, place).random()
        return self.low + (self.high - self.low) * uniform


class GymAny(Family):
    """An environment of gymnasium's; members differ in the parameters that are named."""

    label: ClassVar[str] = "Gymnasium"
    # its members are met as CartPoles are; continuous actions are taken from a grid
    kind: ClassVar[str] = "classic_control"
    varies: ClassVar[str] = "named attributes, arguments of make, or arguments of wrappers"
    rewards_steps: ClassVar[bool] = False  # nothing is known of the rewards
    after_draw: ClassVar[frozenset[str]] = frozenset({"cap", "options"})

    id: str = Field(description="as gymnasium.make takes it, as in CartPole-v1")
    agents: int = Field(gt=0, description="N, environments trained on")
    parameters: dict[str, Parameter] = Field(description="what differs, by name")
    held_out: int = Field(
        0, ge=0, description="M, new environments, evenly from all lows to all highs"
    )
    cap: int = Field(gt=0, description="steps after which an episode is truncated")
    options: dict[str, Any] = Field(
        default_factory=dict, description="arguments of gymnasium.make, for all members"
    )

    @property
    def newcomers(self) -> int:
        """New environments."""
        return self.held_out

    def skip(self) -> str | None:
        """A package that registers the id must be installed."""
        import gymnasium

        try:
            gymnasium.spec(self.id)
        except gymnasium.error.Error as error:
            return f"gymnasium does not know {self.id}: {error}"
        return None

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The parameters of every member of every seed: [seed, member, parameter]."""
        named = list(self.parameters.values())
        training = np.array([
            [[p.number(seed, agent, place) for place, p in enumerate(named)]
             for agent in range(self.agents)]
            for seed in seeds
        ])  # fmt: skip
        new = np.stack([np.linspace(p.low, p.high, self.held_out) for p in named], axis=1)
        return {"training": training, "held_out": np.tile(new, (len(seeds), 1, 1))}

    def task(self, draws: Draws) -> GymTask:
        from pfedrl.envs.gymnasium_tasks.physics import GymPhysics

        training = draws["training"]
        physics = GymPhysics(self.made, self.cap, training[0, 0])
        return GymTask(physics, training, draws["held_out"])

    def made(self, numbers: np.ndarray) -> Any:
        """A member's environment, with its parameters [parameter]."""
        import gymnasium

        from pfedrl.envs.gymnasium_tasks.told import Told

        told = [(name, p, float(n)) for (name, p), n in
                zip(self.parameters.items(), numbers, strict=True)]  # fmt: skip
        arguments = {name: number for name, p, number in told if p.through == "make"}
        env = gymnasium.make(
            self.id, max_episode_steps=self.cap, disable_env_checker=True,
            **self.options, **arguments,
        )  # fmt: skip
        for name, p, number in told:
            if p.through == "wrapper":
                module, _, wrapper = p.wrapper.partition(":")
                env = getattr(import_module(module), wrapper)(env, **{name: number})
        attributes = {
            key: factor * number
            for name, p, number in told
            if p.through == "attribute"
            for key, factor in {name: 1.0, **p.also}.items()
        }
        return Told(env, attributes)
