"""A learner that does not learn, on bodies that walk: actions drawn uniformly, or none at all."""

from collections.abc import Iterator, Sequence

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.environments import episode_returns
from pfedrl.envs.mujoco.walkers import WalkerTask


class FixedWalker(FixedLearner):
    """Actions that do not depend on what is seen: uniform in +- `spread` of their limit."""

    def __init__(self, task: WalkerTask, seeds: Sequence[int], episodes: int, spread: float):
        self.task, self.seeds, self.episodes, self.spread = task, list(seeds), episodes, spread

    def returns(self, members: np.ndarray, first: int) -> np.ndarray:
        """Of models [seed, member]: [seed, member, episode], as long as an evaluation's."""
        environments = self.task.evaluation(np.repeat(members, self.episodes, axis=1))
        starts = self.task.evaluation_starts(self.seeds, members.shape[1], self.episodes, 0, first)
        generators = [
            generator(seed, Purpose.AGENT, first + member)
            for seed in self.seeds
            for member in range(members.shape[1])
        ]
        space = environments.action_space
        shape, most = (self.episodes, space.size), self.spread * space.limit
        found = episode_returns(
            environments,
            starts.reshape(-1, starts.shape[3]),
            lambda seen: np.concatenate([g.uniform(-most, most, shape) for g in generators]),
        )
        return found.reshape(starts.shape[:3])

    def measure(self) -> Iterator[Measurement]:
        """Under the names of what learners report, so that figures can draw them as levels."""
        own = self.returns(self.task.training, 0)
        for name in ("training_return", "greedy_return", "greedy_return_average"):
            yield Measurement("frame", 0, name, own.mean(axis=2))
        yield Measurement("frame", 0, "objective", own.mean(axis=(1, 2)))
        if self.task.held_out.shape[1]:
            new = self.returns(self.task.held_out, self.task.agents)
            yield Measurement("frame", 0, "held_out_objective", new.mean(axis=(1, 2)))
            for name in ("adapt_training_return", "adapt_greedy_return"):
                yield Measurement("frame", 0, name, new.mean(axis=2))
