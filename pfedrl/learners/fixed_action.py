"""A learner that does not learn: actions drawn without looking."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pfedrl.envs.experience import Source
from pfedrl.exchange.exchange import Parts
from pfedrl.learners.base import Measurement
from pfedrl.runs.seeds import Purpose, generator


class FixedAction:
    """Uniform actions in +- spread, scored where the learners are."""

    def __init__(self, source: Source, seeds: Sequence[int], spread: float, episodes: int):
        self.source, self.seeds = source, list(seeds)
        self.spread, self.episodes = spread, episodes
        self.parts: Parts = {}

    def measure(self) -> Iterator[Measurement]:
        shape = len(self.seeds), self.source.agents
        seed, agent = (index.reshape(-1) for index in np.indices(shape))
        generators = [
            generator(self.seeds[s], Purpose.EVALUATION, 0, int(a))
            for s, a in zip(seed, agent, strict=True)
        ]

        def act(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            size = observations.shape[1], self.source.action_size
            drawn = np.stack([g.uniform(-self.spread, self.spread, size) for g in generators])
            return observations, drawn

        lived = self.source.collect(seed, agent, self.episodes, act, generators)
        returns = lived.episode_returns().mean(axis=1).reshape(shape)
        yield Measurement("round", 0, "return", returns.mean(axis=1))
        yield from self.source.measurements(0)
        yield Measurement("round", 0, "client_return", returns)

    def observe(self) -> None:
        """Nothing changes, so there is nothing to watch."""

    def advance(self, steps: int) -> None:
        """Nothing is learnt."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing was kept."""
