"""What stands around every environment: its attributes are set, and it rests where it is told."""

from collections.abc import Mapping
from typing import Any

import gymnasium

from pfedrl.core.errors import PfedrlError

REST = None  # in the place of an action


class Told(gymnasium.Wrapper):
    """Attributes of the unwrapped environment that are set before every reset.

    Its vector must not see that an episode is over, as it would then step it no more: the flags of
    the last step are in `over`. Rewards and observations are passed on.
    """

    def __init__(self, env: Any, attributes: Mapping[str, float]):
        super().__init__(gymnasium.wrappers.FlattenObservation(env))
        self.attributes = dict(attributes)
        self.over = False, False  # terminated, truncated
        self.last: Any = None
        for name in self.attributes:
            if not hasattr(self.unwrapped, name):
                kind = type(self.unwrapped).__name__
                raise PfedrlError(f"{kind} has no attribute '{name}' that could be set.")

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        for name, number in self.attributes.items():
            setattr(self.unwrapped, name, number)
        self.last, info = super().reset(seed=seed, options=options)
        self.over = False, False
        return self.last, info

    def step(self, action: Any) -> Any:
        if action is REST:
            return self.last, 0.0, False, False, {}
        self.last, reward, *over, info = super().step(action)
        self.over = bool(over[0]), bool(over[1])
        return self.last, reward, False, False, info
