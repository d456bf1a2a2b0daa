"""What is recorded of supervised learners: see `metrics` for the names and the three moments.

`training_loss` is of the workers' own models on their own training samples, after local training.
`consensus_error` is the workers' mean squared distance from their mean, in what they share.
`steps_to_*` [seed] count minibatches one after the other: those of a round's slowest worker, round
after round, as workers train at the same time.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.measures import cosines
from pfedrl.algorithms.supervised.holdings import Holdings
from pfedrl.algorithms.supervised.metrics import COMPARED, CONVERGED, MOMENTS, TOO_FEW
from pfedrl.algorithms.supervised.outputs import cross_entropy, features, head_outputs
from pfedrl.core.measurement import Measurement
from pfedrl.stack.exchange import matching

if TYPE_CHECKING:
    from pfedrl.algorithms.supervised.learner import SupervisedLearner

ROWS = 32  # that are looked at together


class Measures:
    """Looks at a learner at the wanted rounds, before and after mixing."""

    def __init__(self, learner: "SupervisedLearner", shares: tuple[str, ...]):
        self.learner = learner
        self.tested = Holdings.of(learner.task.test, learner.device)
        self.shared = matching(shares, learner.parts) if shares else []
        self.last: int | None = None  # the round that ends training, where one does
        self.wanted: set[int] | None = None  # rounds to look at; None: all
        self.look: dict[str, np.ndarray] = {}  # of this round, each [seed]
        self.history: list[dict[str, np.ndarray]] = []  # of all rounds, where a target is set

    def wants(self) -> bool:
        every = self.wanted is None or self.learner.settings.target_accuracy is not None
        return every or self.learner.rounds in (self.wanted or ())

    def before_mixing(self) -> None:
        if not self.wants():
            return
        model = self.learner.judged
        self.look = {
            "accuracy_before_mixing": self.accuracy(model),
            "training_loss": self.training_loss(model),
            "consensus_error_before_mixing": self.consensus_error(),
        }

    def after_mixing(self) -> None:
        if not self.wants():
            return
        if self.learner.rounds == 0:  # nobody has trained
            self.before_mixing()
        self.look["accuracy_after_mixing"] = self.accuracy(self.learner.judged)
        self.look["accuracy_mean_model"] = self.accuracy(self.mean_model())
        self.look["consensus_error"] = self.consensus_error()
        if self.learner.settings.target_accuracy is not None:
            self.history.append(dict(self.look))

    def measured(self) -> Iterator[Measurement]:
        at = self.learner.rounds
        for metric, values in self.look.items():
            yield Measurement("round", at, metric, values)
        if at != self.last:
            return
        if self.history:
            for metric, values in self.steps_to().items():
                yield Measurement("round", at, metric, values)
        if self.learner.settings.measure_similarities:
            for metric, values in self.similarities():
                yield Measurement("round", at, metric, values)

    def accuracy(self, model: Tensor) -> np.ndarray:
        """Percent of the test samples, over workers who have enough of them: [seed]."""
        right = self._looked_at(model, self.tested, by_loss=False)
        return self._over_workers(100.0 * right, self.learner.task.test.sizes > TOO_FEW)

    def training_loss(self, model: Tensor) -> np.ndarray:
        """[seed]."""
        loss = self._looked_at(model, self.learner.held, by_loss=True)
        return self._over_workers(loss, np.ones(loss.shape, np.bool_))

    def _over_workers(self, values: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """The mean of [seed, worker] over those counted; NaN where nobody is."""
        pairs = zip(values, counted, strict=True)
        return np.array([own[which].mean() if which.any() else np.nan for own, which in pairs])

    def _looked_at(self, model: Tensor, held: Holdings, by_loss: bool) -> np.ndarray:
        """Mean cross-entropy, or the share of right answers, on each row's samples:
        [seed, worker]."""
        learner = self.learner
        found = np.full(len(held.rows), np.nan)
        for block in held.blocks(ROWS):
            own = model[held.stack_rows(block)]
            if not held.sizes[block.start]:
                continue
            seen = features(learner.net, own, learner.inputs, held, block)
            outputs = head_outputs(learner.net, own[:, learner.part["head"]], seen)
            if "personal" in learner.part:
                second = head_outputs(learner.net, own[:, learner.part["personal"]], seen)
                outputs = outputs + second
            labels = learner.labels[held.samples[block, : outputs.shape[1]]]
            outputs = outputs[:, : labels.shape[1]]
            each = cross_entropy(outputs, labels) if by_loss else outputs.argmax(2) == labels
            for row, size, values in zip(
                held.rows[block], held.sizes[block], each.double().cpu().numpy(), strict=True
            ):
                found[row] = values[:size].mean() if size else np.nan
        return found.reshape(learner.shape)

    def mean_model(self) -> Tensor:
        """The tested model with all that is shared averaged over workers, [row, column]."""
        learner = self.learner
        mean = learner.judged.clone()
        prefix = list(learner.models)[-1]
        for name, columns in learner.part.items():
            if (f"{prefix}.{name}" if prefix else name) in self.shared:
                for own in mean.view(*learner.shape, -1):
                    own[:, columns] = own[:, columns].mean(0)
        return mean

    def consensus_error(self) -> np.ndarray:
        """[seed]."""
        parts = self.learner.parts
        total = np.zeros(self.learner.shape[0])
        for name in self.shared:
            for seed, own in enumerate(parts[name]):
                away = (own - own.mean(0)).square().sum(dtype=torch.float64)
                total[seed] += float(away) / len(own)
        return total

    def steps_to(self) -> dict[str, np.ndarray]:
        """How long it took to a target accuracy, and to the end of the training loss's fall."""
        learner, settings = self.learner, self.learner.settings
        batches = -(-learner.task.train.sizes.max(axis=1) // settings.batch)
        limited = [np.minimum(batches, p.steps) if p.steps else batches for p in learner.phases]
        a_round = sum(p.epochs * steps for p, steps in zip(learner.phases, limited, strict=True))
        found = {}
        for moment in MOMENTS:
            there = self._all(f"accuracy_{moment}") >= settings.target_accuracy
            reached = there.any(axis=0)
            first = np.where(reached, there.argmax(axis=0), learner.rounds)
            found[f"steps_to_accuracy_{moment}"] = first * a_round
            found[f"reached_accuracy_{moment}"] = reached.astype(float)
        loss = self._all("training_loss")
        lowest = loss.min(axis=0)
        near = loss <= lowest + CONVERGED * (loss[0] - lowest)
        found["steps_to_convergence"] = near.argmax(axis=0) * a_round
        return found

    def _all(self, metric: str) -> np.ndarray:
        """Of every round: [round, seed]."""
        return np.stack([look[metric] for look in self.history])

    def similarities(self) -> Iterator[tuple[str, np.ndarray]]:
        """Cosines between workers (Figure 3), each to worker j: [seed, worker].

        `similarity_correlation` [seed] is Pearson's, of labels' and heads' cosines.
        """
        learner = self.learner
        stack = learner.judged.view(*learner.shape, -1)
        found = dict.fromkeys(COMPARED, cosines(learner.task.train.counts))
        for name in ("head", "body"):
            own = stack[:, :, learner.part[name]].cpu().numpy()
            found[name] = np.concatenate([cosines(one[None]) for one in own])
        for name, matrix in found.items():
            for other in range(matrix.shape[2]):
                yield f"{name}_similarity_{other}", matrix[:, :, other]
        above = np.triu_indices(learner.shape[1], 1)
        if len(above[0]) < 3:
            return
        pairs = zip(found["label"], found["head"], strict=True)
        with np.errstate(invalid="ignore"):  # NaN where all heads are one
            correlation = [np.corrcoef(label[above], head[above])[0, 1] for label, head in pairs]
        yield "similarity_correlation", np.array(correlation)

    def state(self) -> dict[str, Any]:
        return {"look": self.look, "history": self.history}

    def restore(self, state: dict[str, Any]) -> None:
        self.look, self.history = state["look"], state["history"]
