"""Learners that do not learn: floors and ceiling where members are stepped in."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import ControlTask
from pfedrl.envs.environments import (
    Discrete,
    Environments,
    SteppedTask,
    episode_returns,
    evaluation_starts,
)


class FixedControl(FixedLearner):
    """Actions that do not depend on what is seen: uniform, or in +- `spread` of their limit."""

    exact = False  # one episode tells all

    def __init__(self, task: SteppedTask, seeds: Sequence[int], episodes: int, spread: float = 1.0):
        self.task, self.seeds = task, list(seeds)
        self.episodes, self.spread = episodes, spread

    def returns(self, members: np.ndarray, first: int) -> np.ndarray:
        """Of members [seed, member, ...]: [seed, member, episode]."""
        count = members.shape[1]
        each = np.repeat(members.reshape(-1, *members.shape[2:]), self.episodes, axis=0)
        environments = self.task.evaluation(each)
        starts = evaluation_starts(environments, self.seeds, count, self.episodes, 0, first)
        rows = starts.reshape(len(each), -1)
        return self.scores(environments, each, rows, count, first).reshape(starts.shape[:3])

    def scores(
        self, environments: Environments, members: np.ndarray, starts: np.ndarray, count: int,
        first: int,
    ) -> np.ndarray:  # fmt: skip
        """Returns [row] of members [row, ...] from starts [row, number]."""
        return episode_returns(environments, starts, self._random(environments, count, first))

    def _random(
        self, environments: Environments, members: int, first: int
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Random actions of every member's episodes, by its own generator."""
        generators = [
            generator(seed, Purpose.AGENT, first + member)
            for seed in self.seeds
            for member in range(members)
        ]
        space, shape = environments.action_space, (self.episodes, environments.action_space.size)
        if isinstance(space, Discrete):
            actions = space.count
            return lambda seen: np.concatenate(
                [g.integers(actions, size=shape) for g in generators]
            )
        most = self.spread * space.limit
        return lambda seen: np.concatenate([g.uniform(-most, most, shape) for g in generators])

    def measure(self) -> Iterator[Measurement]:
        """Under the names of what learners report, so that figures can draw them as levels."""
        counted = isinstance(self.task.environments().action_space, Discrete)
        axis = "episode" if counted else "frame"  # what learners count there
        own = self.returns(self.task.training, 0)
        for name in ("training_return", "greedy_return", "return_average"):
            yield Measurement(axis, 0, name, own.mean(axis=2))
        yield Measurement(axis, 0, "greedy_return_average", own.mean(axis=2))
        yield Measurement(axis, 0, "return_median", np.median(own, axis=2))
        yield Measurement(axis, 0, "objective", own.mean(axis=(1, 2)))
        if not self.exact:
            yield Measurement(axis, 0, "return_variance", own.var(axis=2))
            yield Measurement(axis, 0, "return_deviation", own.std(axis=2))
        if self.task.held_out.shape[1]:
            new = self.returns(self.task.held_out, self.task.agents)
            yield Measurement(axis, 0, "held_out_objective", new.mean(axis=(1, 2)))
            for name in ("adapt_training_return", "adapt_greedy_return", "adapt_return_average"):
                yield Measurement(axis, 0, name, new.mean(axis=2))


class BestKnown(FixedControl):
    """The best return that is known to be attainable; a search finds it, so an episode will do."""

    exact = True

    def __init__(self, task: ControlTask, seeds: Sequence[int]):
        super().__init__(task, seeds, episodes=1)
        self.physics = task.physics

    def scores(
        self, environments: Environments, members: np.ndarray, starts: np.ndarray, count: int,
        first: int,
    ) -> np.ndarray:  # fmt: skip
        pairs = zip(members, self.physics.placed(starts), strict=True)
        return np.array([self.physics.best(*pair) for pair in pairs], float)
