"""Learners that do not learn: the floor and the ceiling of a classic control task."""

from collections.abc import Iterator, Sequence

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import ControlTask, start_states


class FixedControl(FixedLearner):
    """The uniformly random policy, or the best return that is known to be attainable."""

    def __init__(self, task: ControlTask, seeds: Sequence[int], episodes: int | None):
        self.task, self.seeds = task, list(seeds)
        self.episodes = episodes  # of the random policy, an environment; None: the best known

    @property
    def optimal(self) -> bool:
        return self.episodes is None

    def returns(self, members: np.ndarray, first: int) -> np.ndarray:
        """[seed, member, episode]; of the best policy one episode, since a search finds it."""
        physics = self.task.physics
        episodes = self.episodes or 1
        starts = start_states(physics, self.seeds, members.shape[1], episodes, 0, first)
        if self.optimal:
            pairs = zip(members.reshape(-1, members.shape[2]), starts.reshape(-1, 4), strict=True)
            best = [physics.best(parameters, start) for parameters, start in pairs]
            return np.array(best, float).reshape(starts.shape[:3])
        return self._random(members, starts, first)

    def _random(self, members: np.ndarray, starts: np.ndarray, first: int) -> np.ndarray:
        """Whole episodes of random actions."""
        physics = self.task.physics
        state = np.array(starts.reshape(-1, physics.STATE))
        parameters = np.repeat(members.reshape(-1, members.shape[2]), starts.shape[2], axis=0)
        generators = [
            generator(seed, Purpose.AGENT, first + member)
            for seed in self.seeds
            for member in range(members.shape[1])
        ]
        active = np.ones(len(state), np.bool_)
        reward, terminal = np.zeros(len(state), np.float32), np.zeros(len(state), np.bool_)
        total = np.zeros(len(state))
        for _ in range(physics.cap):
            action = [g.integers(physics.actions, size=starts.shape[2]) for g in generators]
            physics.step(state, np.concatenate(action), parameters, active, reward, terminal)
            total += np.where(active, reward, 0.0)
            active &= ~terminal
        return total.reshape(starts.shape[:3])

    def measure(self) -> Iterator[Measurement]:
        """Under the names of what learners report, so that figures can draw them as levels."""
        own = self.returns(self.task.training, 0)
        for name in ("training_return", "greedy_return", "return_average"):
            yield Measurement("episode", 0, name, own.mean(axis=2))
        yield Measurement("episode", 0, "greedy_return_average", own.mean(axis=2))
        yield Measurement("episode", 0, "return_median", np.median(own, axis=2))
        yield Measurement("episode", 0, "objective", own.mean(axis=(1, 2)))
        if not self.optimal:
            yield Measurement("episode", 0, "return_variance", own.var(axis=2))
            yield Measurement("episode", 0, "return_deviation", own.std(axis=2))
        if self.task.held_out.shape[1]:
            new = self.returns(self.task.held_out, self.task.agents)
            yield Measurement("episode", 0, "held_out_objective", new.mean(axis=(1, 2)))
            for name in ("adapt_training_return", "adapt_greedy_return", "adapt_return_average"):
                yield Measurement("episode", 0, name, new.mean(axis=2))
