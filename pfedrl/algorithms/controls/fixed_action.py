"""A learner that does not learn: a way of acting that is known beforehand."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.experience import Act, Source

# how members (seed row, agent) act, drawing from their generators
MakeAct = Callable[[np.ndarray, np.ndarray, Sequence[np.random.Generator]], Act]


def uniform(source: Source, spread: float) -> MakeAct:
    """Actions that do not depend on what is seen: uniform in +- spread."""

    def make(seed: np.ndarray, agent: np.ndarray, generators: Sequence[np.random.Generator]) -> Act:
        def act(
            observations: np.ndarray, acting: np.ndarray | None = None
        ) -> tuple[np.ndarray, np.ndarray]:
            drawn = np.zeros((*observations.shape[:2], source.action_size))
            for member, random in enumerate(generators):
                if acting is None or acting[member]:
                    drawn[member] = random.uniform(-spread, spread, drawn.shape[1:])
            return observations, drawn

        return act

    return make


class FixedAction(FixedLearner):
    """Scored where the learners are: every agent, over whole episodes."""

    def __init__(self, source: Source, seeds: Sequence[int], make_act: MakeAct, episodes: int):
        self.source, self.seeds = source, list(seeds)
        self.make_act, self.episodes = make_act, episodes

    def measure(self) -> Iterator[Measurement]:
        shape = len(self.seeds), self.source.agents
        seed, agent = (index.reshape(-1) for index in np.indices(shape))
        generators = [
            generator(self.seeds[s], Purpose.EVALUATION, 0, int(a))
            for s, a in zip(seed, agent, strict=True)
        ]
        act = self.make_act(seed, agent, generators)
        lived = self.source.collect(seed, agent, self.episodes, act, generators)
        returns = lived.episode_returns().mean(axis=1).reshape(shape)
        yield Measurement("round", 0, "return", returns.mean(axis=1))
        yield from self.source.measurements(0)
