"""What CartPole and Acrobot share: members given or drawn, and the task that learners step."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.environments import Discrete
from pfedrl.envs.family import Draws
from pfedrl.envs.members import MemberFamily


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

    def placed(self, starts: np.ndarray) -> np.ndarray:
        """States [..., 4] of starts, which are uniform numbers in [0, 1)."""
        return (2 * starts.astype(float) - 1) * self.start


class ControlEnvironments:
    """Rows of members with these parameters [row, parameter]: see `Environments`."""

    start_size = Physics.STATE  # a start is so many uniform numbers

    def __init__(self, physics: Physics, parameters: np.ndarray):
        from pfedrl.envs.classic.physics import place

        rows, self.place = len(parameters), place
        self.physics, self.parameters = physics, np.ascontiguousarray(parameters)
        self.observation_size, self.cap = physics.observation, physics.cap
        self.action_space = Discrete(physics.actions)
        self.states = np.zeros((rows, physics.STATE))
        self.clock = np.zeros(rows, np.int64)  # steps of the episode so far
        self.observation = np.zeros((rows, physics.observation), np.float32)
        self.other = np.zeros_like(self.observation)  # that of the step before
        self.reward = np.zeros(rows, np.float32)
        self.terminated = np.zeros(rows, np.bool_)
        self.truncated = np.zeros(rows, np.bool_)

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        return np.stack([random.random(self.physics.STATE) for random in generators])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        self.place(self.states, self.clock, rows, starts, self.physics.start)
        self.physics.observe(self.states, self.observation)

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        self.physics.step(
            self.states, action[:, 0], self.parameters, active, self.reward, self.terminated
        )
        self.clock += active
        np.greater_equal(self.clock, self.cap, out=self.truncated)
        self.observation, self.other = self.other, self.observation
        self.physics.observe(self.states, self.observation)

    def state(self) -> dict[str, Any]:
        return {"states": self.states, "clock": self.clock}

    def restore(self, state: dict[str, Any]) -> None:
        self.states, self.clock = state["states"], state["clock"]
        self.physics.observe(self.states, self.observation)


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

    @property
    def cap(self) -> int:
        return self.physics.cap

    def environments(self) -> ControlEnvironments:
        """Every agent of every seed in its member, [seed, agent] flattened."""
        return self.evaluation(self.training.reshape(self.seeds * self.agents, -1))

    def evaluation(self, members: np.ndarray) -> ControlEnvironments:
        """Members with these parameters [row, parameter]; no episode is longer than any other."""
        return ControlEnvironments(self.physics, members)

    def observations(self, generators: Sequence[np.random.Generator], count: int) -> np.ndarray:
        """What is seen of states of interest: [seed, state, number], uniform in their box."""
        shape = (count, self.physics.STATE)
        drawn = np.stack([random.uniform(-1, 1, shape) for random in generators])
        return self.physics.observations(drawn * self.physics.box)

    def observation_limit(self) -> np.ndarray:
        """Observations of interest lie within +- this: cosines and sines within 1, positions and
        speeds within the box."""
        physics = self.physics
        corners = physics.observations(np.stack([physics.box, -physics.box]))
        limit = np.maximum(np.abs(corners).max(axis=0), 1e-6)
        if physics.observation > physics.STATE:
            limit[:4] = 1.0
        return limit

    def newcomers(self) -> "ControlTask":
        """The members that nobody trains on, each with an agent."""
        return replace(self, training=self.held_out, held_out=self.held_out[:, :0])


class ControlFamily(MemberFamily):
    """Members whose physics depends on their number."""

    kind: ClassVar[str] = "classic_control"
    rewards_steps: ClassVar[bool]  # an episode's return is its steps, so that the cap is the best

    cap: int = Field(gt=0, description="steps after which an episode ends, as terminal")

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
