"""What CartPole and Acrobot share: members given or drawn, and the task that learners step."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.family import Draws, Family


@dataclass(frozen=True)
class Physics:
    """How members move: compiled functions on rows of states, and the sizes of things."""

    step: Callable[..., None]  # (state, action, parameters, active, reward, terminal), in place
    observe: Callable[..., None]  # (state, observation)
    observation: int  # numbers in an observation
    actions: int
    start: float  # episodes start uniformly within +- this, in every coordinate
    cap: int  # steps after which an episode ends; the end is terminal, as in both papers
    box: np.ndarray  # [4]: states of interest lie within +- this
    best: Callable[[np.ndarray, np.ndarray], float]  # attainable return, by parameters and start

    STATE: ClassVar[int] = 4  # numbers in a state, of both tasks

    def observations(self, state: np.ndarray) -> np.ndarray:
        """What learners see of states [..., 4]: [..., observation], single precision."""
        rows = np.ascontiguousarray(state).reshape(-1, self.STATE)
        seen = np.empty((len(rows), self.observation), np.float32)
        self.observe(rows, seen)
        return seen.reshape(*state.shape[:-1], self.observation)


@dataclass(frozen=True)
class ControlTask:
    """The environments of all seeds: who trains where, and the new ones."""

    physics: Physics
    training: np.ndarray  # parameters of the members [seed, agent, parameter]
    held_out: np.ndarray  # parameters of members nobody trains on [seed, member, parameter]

    @property
    def agents(self) -> int:
        return self.training.shape[1]

    @property
    def seeds(self) -> int:
        return self.training.shape[0]


def start_states(
    physics: Physics, seeds: Sequence[int], members: int, episodes: int, at: int, first: int = 0
) -> np.ndarray:
    """Start states [seed, member, episode, 4]; each evaluation has its own, in any block."""
    starts = np.empty((len(seeds), members, episodes, physics.STATE))
    for row, seed in enumerate(seeds):
        for member in range(members):
            rng = generator(seed, Purpose.EVALUATION, first + member, at)
            starts[row, member] = rng.uniform(-1, 1, starts.shape[2:]) * physics.start
    return starts


class ControlFamily(Family):
    """Members that differ in one number: listed, or drawn uniformly from a range."""

    kind: ClassVar[str] = "classic_control"
    rewards_steps: ClassVar[bool]  # an episode's return is its steps, so that the cap is the best

    agents: int = Field(gt=0, description="N, environments trained on")
    members: list[float] = Field(
        default_factory=list,
        description="the agents' numbers, from the first again where agents are more; empty: drawn",
    )
    low: float = Field(description="drawn numbers are U(low, high)")
    high: float
    new_members: list[float] = Field(
        default_factory=list, description="the new environments' numbers"
    )
    held_out: int = Field(
        0, ge=0, description="M, new environments, evenly from low to high where none are listed"
    )
    cap: int = Field(gt=0, description="steps after which an episode ends, as terminal")

    @model_validator(mode="after")
    def range_is_one(self) -> "ControlFamily":
        if self.low > self.high:
            raise ValueError("low must not exceed high")
        return self

    @property
    def newcomers(self) -> int:
        """New environments."""
        return len(self.new_members) or self.held_out

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The number of every member of every seed."""
        number = np.empty((len(seeds), self.agents))
        for row, seed in enumerate(seeds):
            for agent in range(self.agents):
                if self.members:
                    number[row, agent] = self.members[agent % len(self.members)]
                else:
                    uniform = generator(seed, Purpose.ENVIRONMENT, agent).random()
                    number[row, agent] = self.low + (self.high - self.low) * uniform
        new = np.array(self.new_members or np.linspace(self.low, self.high, self.held_out))
        return {"training": number, "held_out": np.tile(new, (len(seeds), 1))}

    @abstractmethod
    def parameters(self, number: np.ndarray) -> np.ndarray:
        """What the physics needs of members with these numbers: [..., parameter]."""

    @abstractmethod
    def physics(self) -> Physics:
        """How they move."""

    def task(self, draws: Draws) -> ControlTask:
        return ControlTask(
            self.physics(),
            self.parameters(draws["training"]),
            self.parameters(draws["held_out"]),
        )
