"""Averages in two layers: within regions in every round, among all of them now and then."""

import numpy as np

from pfedrl.stack.mixing import Array, ServerAverage, contract


class Regions:
    """A mixing: agents stand in equal regions, neighbours in their order together.

    In every `rarely`-th round all agents receive the average of all; in the others each receives
    its region's, of those of its agents whom the server selected; nothing where there is none.
    """

    def __init__(self, average: ServerAverage, regions: int, rarely: int):
        self.average, self.regions, self.rarely = average, regions, rarely

    def __call__(self, part: Array, round: int) -> Array:
        if self.all_meet(round):
            return self.average(part, round)
        return contract(self.weights(part.shape[:2], round), part)

    def weights(self, shape: tuple[int, int], round: int) -> np.ndarray:
        """How much of each other an agent receives: [seed, agent, agent]."""
        together = self.together(shape[1])
        own = np.ones(shape) if self.average.weights is None else self.average.weights
        found = together * (self.average.receivers(shape, round) * own)[:, None]
        total = found.sum(axis=2, keepdims=True)
        alone = np.broadcast_to(np.eye(shape[1]), found.shape)
        return np.divide(found, total, out=alone.copy(), where=total > 0)

    def all_meet(self, round: int) -> bool:
        return (round + 1) % self.rarely == 0

    def together(self, agents: int) -> np.ndarray:
        """1 where two agents are of one region: [agent, agent]."""
        region = np.arange(agents) * self.regions // agents
        return (region[:, None] == region).astype(float)

    def receivers(self, shape: tuple[int, int], round: int) -> np.ndarray:
        """A region of one agent has nobody to send to."""
        sent = self.average.receivers(shape, round)
        lonely = self.together(shape[1]).sum(axis=1) == 1
        return sent if self.all_meet(round) else np.where(lonely, 0.0, sent)
