"""Learners that do not learn: the floor and the ceiling of a classic control task."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import ControlEnvironments, ControlTask, evaluation_starts
from pfedrl.envs.environments import episode_returns


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
        starts = evaluation_starts(self.seeds, members.shape[1], episodes, 0, first)
        parameters = np.repeat(members.reshape(-1, members.shape[2]), episodes, axis=0)
        rows = starts.reshape(len(parameters), -1)
        if self.optimal:
            pairs = zip(parameters, physics.placed(rows), strict=True)
            found = np.array([physics.best(*pair) for pair in pairs], float)
        else:
            environments = ControlEnvironments(physics, parameters)
            found = episode_returns(environments, rows, self._random(members.shape[1], first))
        return found.reshape(starts.shape[:3])

    def _random(self, members: int, first: int) -> Callable[[np.ndarray], np.ndarray]:
        """Random actions of every member's episodes, by its own generator."""
        generators = [
            generator(seed, Purpose.AGENT, first + member)
            for seed in self.seeds
            for member in range(members)
        ]
        actions = self.task.physics.actions
        return lambda seen: np.concatenate(
            [g.integers(actions, size=(self.episodes or 1, 1)) for g in generators]
        )

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
