"""Agents that choose whom to learn from: CAESAR (Mak et al. 2024)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape


class ConvergingPeers(Exchange):
    """Every agent moves its table towards the mean of the peers that it selects.

    p_ij, the chance that i considers j, grows in a round in which their tables came nearer to each
    other, and falls in others. Of those drawn only peers with higher returns are selected.
    """

    def __init__(
        self, seeds: Sequence[int], first: float, step: float, margin: float, towards: float
    ):
        super().__init__()
        self.seeds = list(seeds)
        self.first, self.step, self.margin, self.towards = first, step, margin, towards
        self.before = np.zeros(0)  # the tables after the last round
        self.chance = np.zeros(0)  # p, [seed, agent, agent]

    def begin(self, parts: Parts) -> None:
        self.before = np.array(parts["table"])
        seeds, agents = stack_shape(parts)
        self.chance = np.full((seeds, agents, agents), self.first)

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        table, returns = parts["table"], parts["returns"]
        nearer = apart(self.before) - apart(table) > self.margin
        self.chance = np.clip(self.chance + np.where(nearer, self.step, -self.step), 0.0, 1.0)
        agents = table.shape[1]
        drawn = np.stack([
            generator(seed, Purpose.SERVER, round).random((agents, agents)) for seed in self.seeds
        ])  # fmt: skip
        selected = (drawn < self.chance) & (returns[:, None, :] > returns[:, :, None])
        count = selected.sum(axis=2)[..., None]
        mean = np.stack([
            (selected[:, agent, :, None] * table).sum(axis=1) for agent in range(agents)
        ], axis=1) / np.maximum(count, 1)  # fmt: skip
        table += np.where(count > 0, self.towards, 0.0) * (mean - table)
        self.before = table.copy()
        return np.full(stack_shape(parts), float(bytes_each(parts, ["table", "returns"])))

    def state(self) -> dict[str, Any]:
        return {"before": self.before, "chance": self.chance}

    def restore(self, state: dict[str, Any]) -> None:
        self.before, self.chance = state["before"], state["chance"]


def apart(table: np.ndarray) -> np.ndarray:
    """Mean absolute differences between a seed's tables: [seed, agent, agent]."""
    agents = table.shape[1]
    return np.stack(
        [np.abs(table - table[:, agent : agent + 1]).mean(axis=2) for agent in range(agents)],
        axis=1,
    )
