"""Learners that sample: every agent walks through its own environment and learns on the way."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pfedrl.algorithms.td.sampling import Uniforms, cumulative
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner


class SampledLearner(Learner):
    """Where the agents stand, and the numbers that they draw."""

    DRAWS: ClassVar[int]  # uniform numbers a transition
    KEPT: ClassVar[tuple[str, ...]] = ("states", "round")  # by a checkpoint, besides the parts

    def __init__(
        self, task: TabularTask, seeds: Sequence[int], transitions: int, restart: np.ndarray
    ):
        self.task = task
        self.transitions = transitions  # K, that an agent sees in one local step
        self.restart = cumulative(restart)
        self.uniforms = Uniforms(seeds, task.agents)
        # the first state is drawn as any new start is
        self.states = (self.uniforms.take(1) >= self.restart[:-1]).sum(axis=-1)
        self.round = 0

    @property
    @abstractmethod
    def parts(self) -> Parts: ...

    @abstractmethod
    def update(self, uniforms: np.ndarray) -> None:
        """One local step of every agent, of K transitions."""

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.update(self.uniforms.take(self.DRAWS * self.transitions))
            self.round += 1

    def state(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.KEPT}
        return {**kept, "parts": dict(self.parts), "uniforms": self.uniforms.state()}

    def restore(self, state: dict[str, Any]) -> None:
        for name, part in state["parts"].items():
            self.parts[name][...] = part
        for name in self.KEPT:
            setattr(self, name, state[name])
        self.uniforms.restore(state["uniforms"])


def unit_rows(seeds: Sequence[int], rows: int, dimension: int) -> np.ndarray:
    """Random directions, the same for all agents of a seed: [seed, row, d]."""
    drawn = [generator(s, Purpose.INITIAL).standard_normal((rows, dimension)) for s in seeds]
    features = np.stack(drawn)
    return features / np.linalg.norm(features, axis=-1, keepdims=True)
