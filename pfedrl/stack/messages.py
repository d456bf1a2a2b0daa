"""Messages that cannot be relied on: agents that lie, and agents that do not answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.exchange import Exchange, Parts, stack_shape
from pfedrl.stack.mixing import Array


class Unreliable(Exchange):
    """An exchange among agents of whom some lie, and some miss a round.

    A liar sends what it received less its own update, or noise; it learns and receives as others
    do. Of an agent that misses a round the others have what it received last; it sends nothing,
    receives nothing, and goes on with its own. What agents do not share is not touched.
    """

    def __init__(
        self, exchange: Exchange, seeds: Sequence[int], liars: float, lie: str, strength: float,
        absent: float,
    ):  # fmt: skip
        super().__init__(exchange.steps)
        self.exchange, self.seeds = exchange, list(seeds)
        self.liars, self.lie, self.strength, self.absent = liars, lie, strength, absent
        self.received: dict[str, np.ndarray] = {}

    def begin(self, parts: Parts) -> None:
        self.received = {name: np.asarray(part).copy() for name, part in parts.items()}
        self.exchange.begin(parts)

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        shape = stack_shape(parts)
        lying, missing = self.lying(shape[1]), self.missing(shape[1], round)
        messages: dict[str, Array] = {name: copied(part) for name, part in parts.items()}
        for place, name in enumerate(messages):
            message, before = np.asarray(messages[name]), self.received[name]
            if np.issubdtype(message.dtype, np.floating):
                for seed, agent in np.argwhere(lying):
                    own = message[seed, agent]
                    message[seed, agent] = self.told(
                        own, before[seed, agent], self.seeds[seed], round, int(agent), place
                    )
            message[missing] = before[missing]
        sent = {name: np.asarray(message).copy() for name, message in messages.items()}
        count = self.exchange(messages, round)
        for name, part in parts.items():
            result = np.asarray(messages[name])
            if not np.array_equal(result, sent[name], equal_nan=True):  # else it is private
                np.asarray(part)[~missing] = result[~missing]
            self.received[name] = np.asarray(part).copy()
        return np.where(missing, 0.0, count)

    def told(
        self, own: np.ndarray, before: np.ndarray, seed: int, round: int, agent: int, place: int
    ) -> np.ndarray:
        """What a liar says of a part of its model."""
        if self.lie == "reversed":
            return before - self.strength * (own - before)
        noise = generator(seed, Purpose.SERVER, round, 1, agent, place)
        return before + self.strength * noise.standard_normal(own.shape)

    def lying(self, agents: int) -> np.ndarray:
        """Who lies, in all rounds: [seed, agent]."""
        found = np.zeros((len(self.seeds), agents), dtype=bool)
        for row, seed in enumerate(self.seeds):
            drawn = generator(seed, Purpose.SERVER, 0, 2).permutation(agents)
            found[row, drawn[: int(self.liars * agents)]] = True
        return found

    def missing(self, agents: int, round: int) -> np.ndarray:
        """Who misses a round: [seed, agent]."""
        drawn = [generator(seed, Purpose.SERVER, round, 3).random(agents) for seed in self.seeds]
        return np.stack(drawn) < self.absent

    def state(self) -> dict[str, Any]:
        return {"received": self.received, "exchange": self.exchange.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.received = state["received"]
        self.exchange.restore(state["exchange"])


def copied(part: Array) -> Array:
    return part.copy() if isinstance(part, np.ndarray) else part.clone()
