"""Who takes part in a round."""

from collections.abc import Callable, Sequence

import numpy as np

from pfedrl.core.seeds import Purpose, generator

Selection = Callable[[int], np.ndarray]  # the round's agents, [seed, K]


class KOfN:
    """K agents a seed and round, drawn without replacement; all of them, in order, where K is N.

    The draw depends on the seed and the round alone: all algorithms select the same agents, and a
    learner that must know who trains may ask as well as the exchange.
    """

    def __init__(self, seeds: Sequence[int], agents: int, count: int):
        self.seeds, self.agents, self.count = list(seeds), agents, min(count, agents)

    def __call__(self, round: int) -> np.ndarray:
        if self.count == self.agents:
            return np.tile(np.arange(self.agents), (len(self.seeds), 1))
        drawn = [
            generator(seed, Purpose.SERVER, round).choice(self.agents, self.count, replace=False)
            for seed in self.seeds
        ]
        return np.stack(drawn)
