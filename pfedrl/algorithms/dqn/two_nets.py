"""DQN agents with a personal and a global net each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.dqn.dqn_ditto import DQNDitto
from pfedrl.algorithms.dqn.learner import DQNLearner
from pfedrl.envs.discrete import DiscreteTask
from pfedrl.stack.exchange import Parts

NET = (
    "weights", "target", "gradient", "layers", "target_layers", "gradient_layers", "arrays",
    "moments", "updates", "copied",
)  # fmt: skip


class TwoNets(DQNLearner):
    """The personal net acts and is judged; both learn from each batch, each with its own target
    net and Adam. The global net, and nothing else, is a part."""

    settings: DQNDitto

    def __init__(self, task: DiscreteTask, seeds: Sequence[int], settings: DQNDitto):
        super().__init__(task, seeds, settings)
        self.pulled = True  # whether the net in its place is the personal one
        personal = self._net()
        self._hold(self.weights.numpy().copy())
        self.moments = np.zeros_like(self.moments)
        self.updates = {phase: np.zeros_like(of) for phase, of in self.updates.items()}
        self.copied = np.zeros_like(self.copied)
        self.other = self._net()  # the global one
        self.__dict__.update(personal)

    def _net(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in NET}

    def _swap(self) -> None:
        other, self.other = self.other, self._net()
        self.__dict__.update(other)
        self.pulled = not self.pulled

    @property
    def parts(self) -> Parts:
        return {"global": self.other["weights"].view(*self.shape, -1)}

    def advance(self, steps: int) -> None:
        self.received = self.other["weights"].numpy().copy()
        super().advance(steps)

    def _update(self, learning: np.ndarray, phase: str, again: bool = False) -> None:
        """The personal net's step, then the global net's on the same batch."""
        super()._update(learning, phase, again)
        epsilon, loss = self.epsilon.copy(), self.loss.copy()
        self._swap()
        super()._update(learning, phase)
        self._swap()
        self.epsilon, self.loss = epsilon, loss  # both belong to the net that acts

    def _fresh(self) -> None:
        super()._fresh()
        other = self.other
        for numbers in (other["moments"], other["copied"], *other["updates"].values()):
            numbers[:] = 0
        other["target"].copy_(other["weights"])

    def _copy_targets(self, learning: np.ndarray) -> None:
        """Between rounds the targets of both nets are copied."""
        super()._copy_targets(learning)
        if self.copies_between_rounds:
            self._swap()
            super()._copy_targets(learning)
            self._swap()

    def adjust(
        self, weights: np.ndarray, gradient: np.ndarray, rows: slice, columns: slice,
        learning: np.ndarray,
    ) -> None:  # fmt: skip
        if self.pulled:
            gradient += np.float32(self.settings.pull) * (weights - self.received[rows, columns])

    def newcomers(self, settings: Any, way: Adaptation) -> DQNLearner:
        """They start from the global nets."""
        self._swap()
        made = super().newcomers(settings, way)
        self._swap()
        return made

    def state(self) -> dict[str, Any]:
        self._swap()
        other = super().state()
        self._swap()
        kept = ("weights", "target", "moments", "updates", "copied")
        return {**super().state(), "other": {name: other[name] for name in kept}}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        personal, other = self._net(), state["other"]
        self._hold(other["weights"], other["target"])
        self.moments, self.updates, self.copied = (
            other[name] for name in ("moments", "updates", "copied")
        )
        self.other = self._net()
        self.__dict__.update(personal)
