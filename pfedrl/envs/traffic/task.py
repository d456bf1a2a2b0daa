"""What learners see of the figure eight: a simulation a seed, which all its agents share."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.core.measurement import Measurement
from pfedrl.envs.experience import Act, Experience
from pfedrl.envs.traffic.network import Network
from pfedrl.envs.traffic.pool import FigureEightPool, Vehicles
from pfedrl.envs.traffic.simulation import STEP
from pfedrl.envs.traffic.stepping import TrafficEnvironments

if TYPE_CHECKING:
    from pfedrl.envs.traffic.figure_eight import FigureEightFamily


A_SECOND = round(1 / STEP)


class SharedExperience(Experience):
    """Experience whose time is cut into equal slots, one an episode that was asked for.

    After a crash the rest of a slot is filled with further episodes, so that learners always
    have equally many steps; the slot's return is that of its first episode.
    """

    slots: int

    def episode_returns(self) -> np.ndarray:
        shape = (len(self.rewards), self.slots, -1)
        ends = self.ends.reshape(shape)
        first = np.cumsum(ends, axis=2) - ends == 0  # no end before this step
        return np.where(first, self.rewards.reshape(shape), 0.0).sum(axis=2)


def trace(network: Network, episodes: Sequence[Sequence[Vehicles]]) -> Iterator[Measurement]:
    """Each second of each seed's episode: where every vehicle is, and how fast [seed, vehicle]."""
    begins = network.begins()
    seconds = np.array([len(steps) // A_SECOND for steps in episodes])
    for second in range(seconds.max()):
        rows = np.flatnonzero(seconds > second)  # the others' episodes ended before
        now = [episodes[row][second * A_SECOND] for row in rows.tolist()]
        edges = np.stack([vehicles.edges for vehicles in now]).astype(int)
        positions = np.stack([vehicles.positions for vehicles in now])
        xy = network.places(edges, positions)
        found = {
            "lap_position": begins[edges] + positions,
            "speed": np.stack([vehicles.speeds for vehicles in now]),
            "x": xy[..., 0],
            "y": xy[..., 1],
        }
        for metric, values in found.items():
            yield Measurement("second", second, metric, values, rows)


class TrafficTask:
    """A source of experience: all agents of a seed drive in one simulation, for one reward."""

    observation_size = 6
    action_size = 1

    def __init__(self, family: "FigureEightFamily", network: Network, seeds: int):
        self.seeds = seeds
        self.agents = family.agents
        self.horizon = family.horizon
        self.network = network
        self.traces = family.trace
        self._pool = FigureEightPool(family, network, seeds)
        self._last: list[list[Vehicles]] = []  # [seed][step] of the episodes collected last
        self._crashes = np.zeros(seeds)  # among them, as a share

    def environments(self) -> TrafficEnvironments:
        """Every agent of every seed, in the simulations that `collect` uses too."""
        return TrafficEnvironments(self._pool)

    def collect(
        self,
        seed: np.ndarray,
        agent: np.ndarray,
        episodes: int,
        act: Act,
        generators: Sequence[np.random.Generator],
    ) -> Experience:
        """Episodes one after the other, all seeds' simulations side by side (see `Source`)."""
        rows = np.unique(seed)
        drivers = np.arange(self.agents)
        if not np.array_equal(seed, np.repeat(rows, self.agents)) or not np.array_equal(
            agent, np.tile(drivers, len(rows))
        ):
            raise PfedrlError(
                f"all {self.agents} agents of the figure eight drive in one simulation: "
                f"select all of them every round (selected: {self.agents}), without retries."
            )
        count, steps = len(rows), episodes * self.horizon
        observations = np.empty((count, self.agents, steps, self.observation_size))
        actions = np.empty((count, self.agents, steps, self.action_size))
        rewards = np.empty((count, steps))
        ends = np.zeros((count, steps), dtype=bool)
        # the simulation's own randomness comes from the first agent's generator
        random = generators[:: self.agents]
        seen = self._pool.reset([int(g.integers(2**62)) for g in random], rows)
        self._last, self._crashes = [[] for _ in rows], np.zeros(count)
        at = np.zeros(count, dtype=int)  # how far each seed's experience goes
        begun = np.zeros(count, dtype=int)  # where its episode began
        while (at < steps).any():
            raw = np.stack([answer.observations for answer in seen])
            # a seed that is done rests, while others replay lost episodes
            acting = None if (at < steps).all() else np.repeat(at < steps, self.agents)
            filtered, chosen = act(raw.reshape(count * self.agents, 1, -1), acting)
            filtered = filtered.reshape(count, self.agents, -1)
            chosen = chosen.reshape(count, self.agents, -1)
            moving = np.flatnonzero(at < steps).tolist()
            for row, answer in zip(
                moving, self._pool.step(chosen[moving, :, 0], rows[moving]), strict=True
            ):
                now = at[row]
                observations[row, :, now], actions[row, :, now] = filtered[row], chosen[row]
                rewards[row, now] = answer.reward
                self._crashes[row] += answer.crashed / episodes
                if self.traces:
                    self._last[row].append(answer.vehicles)
                at[row] = now + 1
                slot_over = at[row] % self.horizon == 0
                ends[row, now] = answer.ended or slot_over
                seen[row] = answer
                if answer.lost:  # the episode is discarded
                    at[row] = begun[row]
                    ends[row, begun[row] :] = False
                if (answer.ended or slot_over) and at[row] < steps:
                    begun[row] = at[row]
                    fresh = int(random[row].integers(2**62))
                    seen[row] = self._pool.reset([fresh], [rows[row]])[0]
        lived = SharedExperience(
            observations.reshape(count * self.agents, steps, -1),
            actions.reshape(count * self.agents, steps, -1),
            np.repeat(rewards, self.agents, axis=0),
            np.repeat(ends, self.agents, axis=0),
        )
        lived.slots = episodes
        return lived

    def measurements(self, at: int) -> Iterator[Measurement]:
        """Of the episodes collected last: crashes an episode, and where the vehicles were."""
        yield Measurement("round", at, "crashes", self._crashes)
        if self.traces:
            yield from trace(self.network, [steps[: self.horizon] for steps in self._last])

    def close(self) -> None:
        self._pool.close()
