"""Gradients that an exchange corrects: control variates.

A corrected learner has two more parts. It tells the exchange `mean_gradient`, the mean of a round's
gradients before their correction, and adds `correction`, which the exchange writes, to every
gradient of the next round. Both are [seed, agent, weight].
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, SharedParts, bytes_each, stack_shape
from pfedrl.stack.learner import Learner
from pfedrl.stack.mixing import ServerAverage

if TYPE_CHECKING:
    from pfedrl.stack.learner import Rows
    from pfedrl.stack.mixing import Array

    Mixin: Any = object
else:
    Mixin = Learner


def corrected(learner: Any) -> Learner:
    """The learner, with a correction; mixed in here, as every method makes its own learner."""
    kind = type(learner)
    mixed = CorrectedRule if hasattr(kind, "train") else Corrected
    learner.__class__ = type(f"Corrected{kind.__name__}", (mixed, kind), {})
    learner.prepare_correction()
    return learner


class Corrected(Mixin):
    """What is mixed into a learner."""

    correction: np.ndarray  # [row, weight]
    total: np.ndarray  # of a round's gradients
    count: np.ndarray  # of gradients, for each weight

    def prepare_correction(self) -> None:
        """Nothing is corrected in the first round."""
        self.agents = next(iter(super().parts.values())).shape[1]
        rows = self.trained_weights()
        self.correction, self.total, self.count = np.zeros((3, *rows.shape), np.float32)

    def trained_weights(self) -> "Array":
        """The weights that `adjust` is told of: [row, weight]."""
        return self.judged if hasattr(self, "judged") else self.weights

    @property
    def parts(self) -> Parts:
        own = super().parts
        mean = np.divide(
            self.total, self.count, out=np.zeros_like(self.total), where=self.count > 0
        )
        shape = (-1, self.agents, mean.shape[1])
        told = {"mean_gradient": mean.reshape(shape), "correction": self.correction.reshape(shape)}
        return {**own, **told}

    def adjust(
        self, weights: "Array", gradient: "Array", rows: "Rows", columns: slice, learning: "Rows"
    ) -> None:
        where = np.arange(len(self.correction))[rows][learning]
        found = np.asarray(gradient)  # the same memory
        self.total[where, columns] += found[learning]
        self.count[where, columns] += 1
        found[learning] += self.correction[where, columns]

    def advance(self, steps: int) -> None:
        self.total[:], self.count[:] = 0, 0
        super().advance(steps)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "correction": self.correction}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.correction = state["correction"]


class CorrectedRule(Corrected):
    """The same for PPO-KL, whose rule takes the policies' steps for some agents at a time."""

    training = False  # when it reads its own parts

    def trained_weights(self) -> "Array":
        return self.policy.reshape(-1, self.policy.shape[-1])

    @property
    def parts(self) -> Parts:
        return super(Corrected, self).parts if self.training else super().parts

    def advance(self, steps: int) -> None:
        self.training = True
        super().advance(steps)
        self.training = False

    def stack(self, server: Any, seed: np.ndarray, agent: np.ndarray) -> Any:
        made, rows = super().stack(server, seed, agent), seed * self.agents + agent
        made.adjust = lambda gradient: self.adjust(
            made.policy, gradient, rows, slice(None), slice(None)
        )
        return made


class ControlVariates(Exchange):
    """SCAFFOLD's server (Karimireddy et al. 2020): models and control variates are averaged.

    c_i is the agent's mean gradient of its last round, which for SGD is the paper's second option,
    c_i - c + (x - y_i) / (K eta); c is the mean over all agents; c - c_i corrects gradients.
    """

    def __init__(self, average: SharedParts):
        super().__init__(average.steps)
        self.average = average
        self.own = np.zeros(0)  # c_i, [seed, agent, weight]

    def begin(self, parts: Parts) -> None:
        self.own = np.zeros_like(parts["correction"])

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        sent, mixing = self.average(parts, round), self.average.mixing
        assert isinstance(mixing, ServerAverage)
        if mixing.selection is None:
            self.own = np.array(parts["mean_gradient"])
        else:
            chosen = mixing.selection(round)[:, :, None]
            told = np.take_along_axis(np.asarray(parts["mean_gradient"]), chosen, axis=1)
            np.put_along_axis(self.own, chosen, told, axis=1)
        parts["correction"][...] = self.own.mean(axis=1, keepdims=True) - self.own
        receivers = mixing.receivers(stack_shape(parts), round)
        return sent + receivers * bytes_each(parts, ["mean_gradient"])

    def state(self) -> dict[str, Any]:
        return {"own": self.own}

    def restore(self, state: dict[str, Any]) -> None:
        self.own = state["own"]
