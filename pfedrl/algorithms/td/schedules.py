"""Step sizes that fall by a power of the round."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PowerLaw:
    """first / (t+2)^power at round t."""

    first: float
    power: float

    def at(self, done: int) -> float:
        return self.first / (done + 2) ** self.power
