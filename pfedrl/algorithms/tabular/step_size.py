"""Step sizes: the authors' plateau rule, and the ones their theorems ask for."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np


class StepSize(Protocol):
    """Step sizes for the next local steps: [step, seed]."""

    def observe(self, objective: np.ndarray) -> None:
        """The training objective [seed] at the start of a round."""

    def next(self, steps: int) -> np.ndarray: ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


class Plateau:
    """Constant within a round; decayed where the last round gained less than a thousandth.

    From the fourth round e on: if J(e-1) - J(e-2) < .001 J(e-2), then eta <- decay * eta. Each
    seed decides for itself. A negative J is not treated specially, as in the authors' code.
    """

    GAIN = 1e-3

    def __init__(self, initial: float, decay: float, seeds: int):
        self.decay = decay
        self.size = np.full(seeds, initial)
        self.history: list[np.ndarray] = []  # J of the last three rounds, the current one last
        self.rounds = 0

    def observe(self, objective: np.ndarray) -> None:
        self.history = [*self.history[-2:], objective]
        self.rounds += 1
        if self.rounds > 3:
            before, last = self.history[0], self.history[1]
            self.size = np.where(last - before < self.GAIN * before, self.decay, 1.0) * self.size

    def next(self, steps: int) -> np.ndarray:
        return np.broadcast_to(self.size, (steps, len(self.size)))

    def state(self) -> Any:
        return self.size, self.history, self.rounds

    def restore(self, state: Any) -> None:
        self.size, self.history, self.rounds = state


class Scheduled(ABC):
    """Step sizes that depend on the iteration t alone, not on what is learnt."""

    def __init__(self, seeds: int):
        self.seeds = seeds
        self.iteration = 0

    @abstractmethod
    def at(self, iterations: np.ndarray) -> np.ndarray:
        """Step sizes at some iterations [step, 1], for all seeds or for each: [step, 1 or seed]."""

    def observe(self, _objective: np.ndarray) -> None:
        """The schedule does not look at the objective."""
        return

    def next(self, steps: int) -> np.ndarray:
        sizes = self.at(self.iteration + np.arange(steps)[:, None])
        self.iteration += steps
        return np.broadcast_to(sizes, (steps, self.seeds)).copy()

    def state(self) -> Any:
        return self.iteration

    def restore(self, state: Any) -> None:
        self.iteration = state


class Theorem2(Scheduled):
    """eta_t = 2 / ((1-gamma)(t+E)): QAvg's, in Theorem 2; above 1 while t + E < 2/(1-gamma)."""

    def __init__(self, seeds: int, gamma: float, local_steps: int):
        super().__init__(seeds)
        self.gamma, self.local_steps = gamma, local_steps

    def at(self, iterations: np.ndarray) -> np.ndarray:
        return 2.0 / ((1.0 - self.gamma) * (iterations + self.local_steps))


class Theorem3(Scheduled):
    """eta_t = sqrt(E / (12 L^2 (t + E/3))): PAvg's, in Theorem 3, with one L or one a seed."""

    def __init__(self, seeds: int, smoothness: float | np.ndarray, local_steps: int):
        super().__init__(seeds)
        self.smoothness, self.local_steps = smoothness, local_steps

    def at(self, iterations: np.ndarray) -> np.ndarray:
        steps = self.local_steps
        return np.sqrt(steps / (12.0 * self.smoothness**2 * (iterations + steps / 3.0)))
