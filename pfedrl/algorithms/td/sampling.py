"""Random numbers for agents that sample: a generator for each (seed, agent), drawn in chunks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.core.seeds import Purpose, generator

CHUNK = 512  # numbers drawn at a time from each generator


class Uniforms:
    """Streams of U(0,1) numbers [seed, agent, ...]; a stream depends on its seed and agent only."""

    def __init__(self, seeds: Sequence[int], agents: int):
        self.generators = [
            [generator(seed, Purpose.AGENT, agent) for agent in range(agents)] for seed in seeds
        ]
        self.buffer = np.empty((len(seeds), agents, 0))

    def take(self, count: int) -> np.ndarray:
        """The next numbers of every stream, [seed, agent, count]."""
        if self.buffer.shape[2] < count:
            size = max(CHUNK, count)
            fresh = np.empty((*self.buffer.shape[:2], size))
            for x, row in enumerate(self.generators):
                for i, stream in enumerate(row):
                    stream.random(out=fresh[x, i])
            self.buffer = np.concatenate([self.buffer, fresh], axis=2)
        taken = np.ascontiguousarray(self.buffer[:, :, :count])
        self.buffer = self.buffer[:, :, count:]
        return taken

    def state(self) -> Any:
        states = [[stream.bit_generator.state for stream in row] for row in self.generators]
        return states, self.buffer

    def restore(self, state: Any) -> None:
        states, self.buffer = state
        for row, kept in zip(self.generators, states, strict=True):
            for stream, own in zip(row, kept, strict=True):
                stream.bit_generator.state = own


def cumulative(probability: np.ndarray) -> np.ndarray:
    """Running sums along the last axis, the last one exactly 1."""
    sums = np.cumsum(probability, axis=-1)
    return sums / sums[..., -1:]
