"""Reacher: a two-link arm reaches for a target (FedKL, Section V.A; gymnasium's Reacher-v4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.environments import Continuous
from pfedrl.envs.experience import Act, Experience
from pfedrl.envs.family import Draws, Family
from pfedrl.envs.mujoco import reacher_kernels as kernels

FIELD = 0.2  # targets lie within this distance of the shoulder
GRID = 8  # the field's square, cut into 8 x 8 cells
CLIENTS = GRID * GRID
KEPT = ("arm", "target", "noise", "clock", "observation")
CORNERS = (0, GRID - 1, CLIENTS - GRID, CLIENTS - 1)  # out of reach: they reuse cell 1


def cells() -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds [client, (x, y)] of the cells: x by row, y falls by column."""
    client = np.arange(CLIENTS)
    client[list(CORNERS)] = 1
    side = 2 * FIELD / GRID
    x, top = -FIELD + client // GRID * side, FIELD - client % GRID * side
    return np.stack([x, top - side], axis=1), np.stack([x + side, top], axis=1)


class ReacherEnvironments:
    """Arms that feel an offset [row, 2] beside each action: see `Environments`.

    A start is an arm (two angles, two speeds) and a target; where a noise distorts the actions, it
    follows, a pair a step.
    """

    observation_size = 11
    action_space = Continuous(2, 1.0)

    def __init__(self, task: "ReacherTask", agent: np.ndarray, offset: np.ndarray):
        rows = len(agent)
        self.task, self.agent, self.offset, self.cap = task, agent, offset, task.horizon
        self.arm, self.target = np.zeros((rows, 4)), np.zeros((rows, 2))
        self.noise = np.zeros((rows, self.cap if task.noise else 0, 2))
        self.clock = np.zeros(rows, np.int64)
        self.observation = np.zeros((rows, self.observation_size))
        self.reward = np.zeros(rows)
        self.terminated, self.truncated = np.zeros((2, rows), np.bool_)

    def starts(self, generators: Sequence[np.random.Generator]) -> np.ndarray:
        pairs = zip(self.agent, generators, strict=True)
        return np.concatenate([self.task.starts(agent, 1, random) for agent, random in pairs])

    def reset(self, rows: np.ndarray, starts: np.ndarray) -> None:
        self.arm[rows], self.target[rows] = starts[:, :4], starts[:, 4:6]
        self.noise[rows] = starts[:, 6:].reshape(len(rows), -1, 2)
        self.clock[rows] = 0
        seen = np.empty((len(rows), self.observation_size))
        kernels.place(self.arm[rows], self.target[rows], seen)
        self.observation[rows] = seen

    def step(self, action: np.ndarray, active: np.ndarray) -> None:
        added = self.offset
        if self.task.noise:  # a row that rests at its end has none left
            now = np.minimum(self.clock, self.cap - 1)
            added = added + self.noise[np.arange(len(now)), now]
        felt = action + added
        self.observation = self.observation.copy()
        if active.all():
            kernels.step(self.arm, self.target, felt, self.observation, self.reward)
        else:
            some = (self.arm, self.target, felt, self.observation, self.reward)
            arm, target, felt, observation, reward = (array[active] for array in some)
            kernels.step(arm, target, felt, observation, reward)
            self.arm[active], self.observation[active] = arm, observation
            self.reward[active] = reward
        self.clock += active
        self.truncated = self.clock >= self.cap

    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in KEPT}

    def restore(self, state: dict[str, Any]) -> None:
        for name in KEPT:
            setattr(self, name, state[name])


@dataclass(frozen=True)
class ReacherTask:
    """The arms of all clients of all seeds."""

    low: np.ndarray  # [client, 2]: where the client's targets lie
    high: np.ndarray
    offset: np.ndarray  # [seed, client, 2]: added to every action
    noise: float  # standard deviation of what is added to each action anew
    horizon: int
    observation_size: int = 11
    action_size: int = 2

    @property
    def seeds(self) -> int:
        return self.offset.shape[0]

    @property
    def agents(self) -> int:
        return self.offset.shape[1]

    def targets(self, client: int, count: int, random: np.random.Generator) -> np.ndarray:
        """Targets [count, 2], uniform where the client's cell and the field meet."""
        found = np.empty((0, 2))
        while len(found) < count:
            drawn = random.uniform(self.low[client], self.high[client], (4 * count, 2))
            found = np.concatenate([found, drawn[(drawn**2).sum(axis=1) < FIELD**2]])
        return found[:count]

    def starts(self, client: int, count: int, random: np.random.Generator) -> np.ndarray:
        """Starts [count, number] of a client's episodes: arms, targets and noise."""
        arm = random.uniform(-1, 1, (count, 4)) * (0.1, 0.1, 0.005, 0.005)
        target = self.targets(client, count, random)
        if not self.noise:
            return np.concatenate([arm, target], axis=1)
        drawn = np.clip(self.noise * random.standard_normal((self.horizon, count, 2)), -1, 1)
        return np.concatenate([arm, target, drawn.swapaxes(0, 1).reshape(count, -1)], axis=1)

    def environments(
        self, seed: np.ndarray | None = None, agent: np.ndarray | None = None
    ) -> ReacherEnvironments:
        """Row i is agent[i] of seed row seed[i]; unsaid, every agent of every seed."""
        if seed is None or agent is None:
            seed, agent = (index.reshape(-1) for index in np.indices(self.offset.shape[:2]))
        return ReacherEnvironments(self, agent, self.offset[seed, agent])

    def collect(
        self,
        seed: np.ndarray,
        agent: np.ndarray,
        episodes: int,
        act: Act,
        generators: Sequence[np.random.Generator],
    ) -> Experience:
        """Whole episodes, all members' side by side (see `Source`)."""
        members, steps = len(agent), self.horizon
        pairs = zip(agent, generators, strict=True)
        starts = np.concatenate([self.starts(own, episodes, random) for own, random in pairs])
        environments = self.environments(np.repeat(seed, episodes), np.repeat(agent, episodes))
        environments.reset(np.arange(members * episodes), starts)
        seen = np.empty((members, steps, episodes, self.observation_size))
        actions = np.empty((members, steps, episodes, 2))
        rewards = np.empty((members, steps, episodes))
        everyone = np.ones(members * episodes, np.bool_)
        for t in range(steps):
            observation = environments.observation.reshape(members, episodes, -1)
            seen[:, t], actions[:, t] = act(observation)
            environments.step(actions[:, t].reshape(-1, 2), everyone)
            rewards[:, t] = environments.reward.reshape(members, episodes)
        ends = np.zeros((members, episodes * steps), dtype=bool)
        ends[:, steps - 1 :: steps] = True
        return Experience(  # one episode after the other
            seen.swapaxes(1, 2).reshape(members, episodes * steps, -1),
            actions.swapaxes(1, 2).reshape(members, episodes * steps, 2),
            rewards.swapaxes(1, 2).reshape(members, episodes * steps),
            ends,
        )

    def measurements(self, at: int) -> tuple[Measurement, ...]:
        """Nothing beyond what agents lived through."""
        return ()


def towards_target(observations: np.ndarray) -> np.ndarray:
    """Torques of a hand-made controller: inverse kinematics, then a spring and a brake a joint.

    Of the two ways to bend the elbow it takes the nearer. The gains are the best of a small grid.
    """
    spring, brake = 52.0, 9.8
    angles = np.arctan2(observations[..., 2:4], observations[..., 0:2])
    x, y = observations[..., 4], observations[..., 5]
    link, tip = kernels.LINK, kernels.TIP
    bend = np.arccos(np.clip((x**2 + y**2 - link**2 - tip**2) / (2 * link * tip), -1, 1))
    ways = []
    for elbow in (bend, -bend):
        reach = np.arctan2(tip * np.sin(elbow), link + tip * np.cos(elbow))
        turn = np.arctan2(y, x) - reach - angles[..., 0]
        turn = (turn + np.pi) % (2 * np.pi) - np.pi
        ways.append(np.stack([turn, elbow - angles[..., 1]], axis=-1))
    efforts = [(way**2).sum(axis=-1, keepdims=True) for way in ways]
    wanted = np.where(efforts[0] < efforts[1], ways[0], ways[1])
    return np.clip((spring * wanted - brake * observations[..., 6:8]) / kernels.GEAR, -1, 1)


class Reacher(Family):
    """A planar arm reaches for a target; clients differ in targets, dynamics, or not at all."""

    label: ClassVar[str] = "Reacher"
    kind: ClassVar[str] = "continuous"
    varies: ClassVar[str] = "the cell of the target (60 of 64 cells), or an offset of the action"
    after_draw: ClassVar[frozenset[str]] = frozenset(
        {"target_cells", "action_noise", "noise_kind", "horizon"}
    )

    target_cells: bool = Field(
        False, description="each client's targets lie in its own cell of the 8 x 8 grid"
    )
    action_noise: float = Field(
        0.0, ge=0, description="standard deviation of what distorts the actions, clipped to +-1"
    )
    noise_kind: Literal["offset", "per_step"] = Field(
        "offset", description="one draw a client, as in the authors' code, or a draw every step"
    )
    horizon: int = Field(50, gt=0, description="steps of an episode")

    def draw(self, seeds: Sequence[int]) -> Draws:
        """A standard normal pair for every client."""
        drawn = [generator(s, Purpose.ENVIRONMENT).standard_normal((CLIENTS, 2)) for s in seeds]
        return {"offset": np.stack(drawn)}

    def task(self, draws: Draws) -> ReacherTask:
        low, high = cells()
        if not self.target_cells:
            low, high = np.full_like(low, -FIELD), np.full_like(high, FIELD)
        fixed = self.noise_kind == "offset"
        offset = np.clip(draws["offset"] * (self.action_noise if fixed else 0.0), -1, 1)
        return ReacherTask(low, high, offset, 0.0 if fixed else self.action_noise, self.horizon)
