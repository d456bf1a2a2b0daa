"""Servers that do more than average: with momentum, or with rules that liars cannot sway.

All parts are looked at as NumPy arrays, which torch's share their memory with.
"""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from pfedrl.stack.exchange import (
    Exchange,
    Parts,
    SharedParts,
    bytes_each,
    matching,
    stack_shape,
)
from pfedrl.stack.mixing import ServerAverage


class ServerMomentum(Exchange):
    """The server moves by a velocity, which every round adds the agents' mean update to.

    Coefficients (parts of one number an agent) are averaged.
    """

    def __init__(self, average: SharedParts, momentum: float):
        super().__init__(average.steps)
        self.average, self.momentum = average, momentum
        self.model: dict[str, np.ndarray] = {}  # as the agents received it, [seed, 1, ...]
        self.velocity: dict[str, np.ndarray] = {}

    def begin(self, parts: Parts) -> None:
        for name, part in models(parts, matching(self.average.shares, parts)).items():
            self.model[name] = part[:, :1].astype(np.float64)
            self.velocity[name] = np.zeros_like(self.model[name])

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        sent = self.average(parts, round)
        for name, part in models(parts, self.model).items():
            update = part[:, :1] - self.model[name]
            self.velocity[name] = self.momentum * self.velocity[name] + update
            self.model[name] = self.model[name] + self.velocity[name]
            part[...] = self.model[name]
        return sent

    def state(self) -> dict[str, Any]:
        return {"model": self.model, "velocity": self.velocity}

    def restore(self, state: dict[str, Any]) -> None:
        self.model, self.velocity = state["model"], state["velocity"]


class Server(Exchange):
    """A server that makes one model of the messages, which all agents receive.

    A message is a row of numbers: all that an agent shares. Agents weigh alike.
    """

    def __init__(self, average: SharedParts):
        super().__init__(average.steps)
        assert isinstance(average.mixing, ServerAverage)
        self.shares, self.mixing = average.shares, average.mixing

    @abstractmethod
    def combined(self, messages: np.ndarray) -> np.ndarray:
        """The model [seed, number] that is made of messages [seed, sender, number]."""

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        names = matching(self.shares, parts)
        views = {name: np.asarray(parts[name]) for name in names}
        shape = stack_shape(parts)
        messages = np.concatenate(
            [view.reshape(*shape, -1).astype(np.float64) for view in views.values()], axis=2
        )
        if self.mixing.selection is not None:
            chosen = self.mixing.selection(round)
            messages = np.take_along_axis(messages, chosen[:, :, None], axis=1)
        model, first = self.combined(messages), 0
        for view in views.values():
            own = view[:, :1]
            size = own[0].size
            own_model = model[:, first : first + size]
            view[...] = own_model.reshape(own.shape)
            first += size
        return self.mixing.receivers(shape, round) * bytes_each(parts, names)


def models(parts: Parts, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Views on those of these parts that are more than a number an agent."""
    views = {name: np.asarray(parts[name]) for name in names}
    return {name: view for name, view in views.items() if view.ndim > 2}


def distances(messages: np.ndarray) -> np.ndarray:
    """Between every two of a seed's messages: [seed, sender, sender]."""
    apart = np.zeros((*messages.shape[:2], messages.shape[1]))
    for other in range(messages.shape[1]):
        away = messages - messages[:, other : other + 1]
        apart[:, :, other] = np.sqrt((away * away).sum(axis=2))
    return apart
