"""Times of workers' own models, to a part of an epoch.

A worker's time is the minibatches of its round's slowest worker, whose epochs are those of
everyone: one with fewer samples waits at the end of each epoch, as it does at the end of the round.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.supervised.measures import Measures
from pfedrl.algorithms.supervised.metrics import CONVERGED
from pfedrl.algorithms.supervised.settings import Phase

if TYPE_CHECKING:
    from pfedrl.algorithms.supervised.learner import SupervisedLearner


class Look(NamedTuple):
    """What a look at all workers' own models found, each [seed]."""

    at: np.ndarray  # steps of the slowest worker since training began
    accuracy: np.ndarray
    loss: np.ndarray


class TimedMeasures(Measures):
    """Keeps the models at evenly spaced steps of a phase, and tests them when the phase has ended.

    `before_step` takes the place of the learner's hook `adjust`, which is called before each step
    of a block of rows, and leaves the gradient as it is.
    """

    def __init__(self, learner: "SupervisedLearner", shares: tuple[str, ...], looks: int):
        super().__init__(learner, shares)
        self.looks = looks
        self.found: list[Look] = []
        self.batches = -(-learner.task.train.sizes // learner.settings.batch)  # [seed, worker]
        self.steps = [  # of an epoch of each phase
            np.minimum(self.batches, phase.steps) if phase.steps else self.batches
            for phase in learner.phases
        ]
        self.phase = len(learner.phases) - 1  # that is trained, or was the last
        self.rows: Tensor | None = None  # of the block that is trained
        self.start = np.zeros(learner.shape[0], np.int64)  # [seed]: when this phase began
        self.taken = 0  # steps of that block in this phase
        self.due: dict[
            int, list[tuple[int, np.ndarray]]
        ] = {}  # step to looks and rows of the block
        self.kept: list[Tensor] = []  # models of each look of this phase, [row, column]
        self.wait: list[np.ndarray] = []  # rows [row] that have not been kept yet

    def before_step(
        self, weights: Tensor, gradient: Tensor, rows: Tensor, columns: slice, learning: slice
    ) -> None:
        """The hook: keep the models of those rows of the block for which it is time."""
        if rows is not self.rows:
            self._begin(rows)
        for look, places in self.due.get(self.taken, ()):
            which = rows[places]
            self.kept[look][which, columns] = weights[places]
            self.wait[look][which.cpu().numpy()] = False
        self.taken += 1

    def _begin(self, rows: Tensor) -> None:
        """A block begins, and with the first block, of the largest workers, a phase."""
        learner = self.learner
        if int(rows[0]) == int(learner.held.rows[0]):
            self._test()
            self.phase = (self.phase + 1) % len(learner.phases)
            self.start = learner.rounds * self._length() + self._length(self.phase)
            self.kept = [learner.judged.clone() for _ in self._places()]
            self.wait = [np.ones(len(learner.judged), bool) for _ in self.kept]
        self.rows, self.taken, self.due = rows, 0, {}
        if self._phase.model != list(learner.models)[-1]:
            return  # another model than the one that is tested
        own = self.steps[self.phase].reshape(-1)[rows.cpu().numpy()]
        slowest = np.repeat(self.steps[self.phase].max(axis=1), learner.shape[1])
        for look, (epoch, place) in enumerate(self._places()):
            step = -(-place * slowest[rows.cpu().numpy()] // self.looks)
            step = epoch * own.max() + np.minimum(step, own.max())
            for at in np.unique(step):
                self.due.setdefault(int(at), []).append((look, np.flatnonzero(step == at)))

    @property
    def _phase(self) -> Phase:
        return self.learner.phases[self.phase]

    def _places(self) -> list[tuple[int, int]]:
        """Epochs of the phase, and how many parts of each have passed at a look. The end of the
        round is looked at anyway."""
        found = [(e, j) for e in range(self._phase.epochs) for j in range(1, self.looks + 1)]
        return found[:-1] if self.phase == len(self.learner.phases) - 1 else found

    def _length(self, phases: int | None = None) -> np.ndarray:
        """Steps of each seed's slowest worker in the first so many phases, or in all: [seed]."""
        pairs = zip(self.learner.phases[:phases], self.steps, strict=False)
        return sum((p.epochs * s.max(axis=1) for p, s in pairs), np.zeros_like(self.start))

    def _test(self) -> None:
        """The models that were kept in the phase that has ended; who had ended before a look is
        looked at as it is now."""
        slowest = self.steps[self.phase].max(axis=1)
        for (epoch, place), model, wait in zip(self._places(), self.kept, self.wait, strict=False):
            model[torch.from_numpy(wait)] = self.learner.judged[torch.from_numpy(wait)]
            at = self.start + epoch * slowest + -(-place * slowest // self.looks)
            self.found.append(Look(at, self.accuracy(model), self.training_loss(model)))
        self.kept, self.wait = [], []

    def before_mixing(self) -> None:
        super().before_mixing()
        self._test()
        if self.learner.rounds:  # somebody has trained
            at = self.learner.rounds * self._length()
            self.found.append(
                Look(at, self.look["accuracy_before_mixing"], self.look["training_loss"])
            )

    def steps_to(self) -> dict[str, np.ndarray]:
        """As in rounds, but for the workers' own models: before mixing, and the training loss."""
        first = self.history[0]
        untrained = Look(
            np.zeros_like(self.start), first["accuracy_before_mixing"], first["training_loss"]
        )
        at, accuracy, loss = (
            np.stack(values) for values in zip(untrained, *self.found, strict=True)
        )
        there = accuracy >= self.learner.settings.target_accuracy
        reached = there.any(axis=0)
        near = loss <= loss.min(axis=0) + CONVERGED * (loss[0] - loss.min(axis=0))

        def when(which: np.ndarray) -> np.ndarray:
            return np.take_along_axis(at, which.argmax(axis=0)[None], axis=0)[0]

        return super().steps_to() | {
            "steps_to_accuracy_before_mixing": np.where(reached, when(there), at[-1]),
            "reached_accuracy_before_mixing": reached.astype(float),
            "steps_to_convergence": when(near),
        }

    def state(self) -> dict[str, Any]:
        return super().state() | {"found": [tuple(look) for look in self.found]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.found = [Look(*look) for look in state["found"]]
