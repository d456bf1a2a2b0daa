"""The exchange: what agents give each other, how it is mixed, and how often."""

from collections.abc import Iterable, MutableMapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.stack.mixing import Array, Mixing, ServerAverage

Parts = MutableMapping[str, Array]  # name of a part to its stack [seed, agent, ...]


class Exchange:
    """What agents give each other; as it stands, nothing.

    `Algorithm.exchange(task, seeds)` makes one for a block of seeds. The loop then lets the agents
    take `steps` local steps and calls the exchange, round after round.

    - It is called with the learner's parts and the number of the round, from 0. Parts are stacks
      [seed, agent, ...] of NumPy or torch, and are changed in place. Parts that it does not share
      stay as they are, and so do agents that it does not select.
    - It returns how many bytes each agent sent in that round: [seed, agent].
    - Seeds never meet: what a seed's agents receive depends on that seed and the round only, so
      that a seed alone is the seed in a block. Whatever is drawn comes from `Purpose.SERVER`.
    - What it remembers from round to round is in `state`; the loop keeps it in checkpoints, beside
      the learner's. An exchange that draws by the round's number alone has nothing to remember.
    - `begin` shows it the parts before the first local step: the common start. What else agents
      tell the exchange, and it them, are parts too: returns, visits, a correction of gradients.
    """

    def __init__(self, steps: int = 1):
        self.steps = steps  # local steps in a round

    def begin(self, parts: Parts) -> None:
        """Look at the parts before training; not called where a run is resumed."""

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        return np.zeros(stack_shape(parts))

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must keep."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""


class SharedParts(Exchange):
    """The shared parts are mixed after every so many local steps; the rest stays private."""

    def __init__(self, shares: tuple[str, ...], mixing: Mixing, every: int):
        super().__init__(every)
        self.shares = shares  # patterns of part names, as in fnmatch
        self.mixing = mixing

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        chosen = matching(self.shares, parts)
        for name in chosen:
            parts[name][...] = self.mixing(parts[name], round)
        return self.mixing.receivers(stack_shape(parts), round) * bytes_each(parts, chosen)


def matching(patterns: tuple[str, ...], names: Iterable[str]) -> list[str]:
    """The parts that one of the patterns fits; none is a mistake."""
    chosen = [n for n in names if any(fnmatchcase(n, pattern) for pattern in patterns)]
    if not chosen:
        raise PfedrlError(f"nothing to share: no part matches {', '.join(patterns)}.")
    return chosen


def stack_shape(parts: Parts) -> tuple[int, int]:
    """Seeds and agents."""
    seeds, agents = next(iter(parts.values())).shape[:2]
    return seeds, agents


def bytes_each(parts: Parts, names: Iterable[str]) -> int:
    """The size of one agent's copy of these parts."""
    seeds, agents = stack_shape(parts)
    return sum(parts[name].nbytes for name in names) // (seeds * agents)


def never(steps: int = 1) -> Exchange:
    """Independent agents, looked at after every so many steps."""
    return Exchange(steps)


def server_average(every: float, shares: tuple[str, ...] = ("*",)) -> Exchange:
    """The server averages every so many local steps; infinity means never."""
    if every == float("inf"):
        return never()
    return SharedParts(shares, ServerAverage(), int(every))
