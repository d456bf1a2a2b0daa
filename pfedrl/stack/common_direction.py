"""A server that tells agents which way all of them went: FedSVRPG-M (Wang et al. 2024)."""

from typing import Any

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape


class CommonDirection(Exchange):
    """The direction is the agents' mean move from the server's model over `length`; the model takes
    `step` times that move.

    Agents know the direction from two models, so that no message of its own is sent.
    """

    def __init__(self, length: float, step: float):
        super().__init__()
        self.length, self.step = length, step
        self.model = np.zeros(0)  # [seed, 1, number]

    def begin(self, parts: Parts) -> None:
        self.model = np.array(parts["table"][:, :1])

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        move = parts["table"].mean(axis=1, keepdims=True) - self.model
        self.model = self.model + self.step * move
        parts["table"][...] = self.model
        parts["direction"][...] = move / self.length
        return np.full(stack_shape(parts), float(bytes_each(parts, ["table"])))

    def state(self) -> dict[str, Any]:
        return {"model": self.model}

    def restore(self, state: dict[str, Any]) -> None:
        self.model = state["model"]
