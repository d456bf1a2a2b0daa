"""Averages with a correction of each agent's drift: SCAFFLSA (Mangold et al. 2024)."""

from collections.abc import Callable

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape


class LinearCorrections(Exchange):
    """The tables are averaged, and what an agent is away from the mean goes into its correction.

    `length(round)` is eta H, the step size times the local steps of a round. The corrections sum to
    zero over the agents, and are known to each of them without a message of their own.
    """

    def __init__(self, length: Callable[[int], float]):
        super().__init__()
        self.length = length

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        table, correction = parts["table"], parts["correction"]
        mean = table.mean(axis=1, keepdims=True)
        correction += (mean - table) / self.length(round)
        table[...] = mean
        return np.full(stack_shape(parts), float(bytes_each(parts, ["table"])))
