"""The training loop: look, step, exchange; with a checkpoint now and then."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pfedrl.core.recorder import Recorder
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.learner import Learner


@dataclass(frozen=True)
class Control:
    """How a run is watched and kept safe; nothing here changes its numbers."""

    curve_points: int = 0  # points of the curve to record; 0: the last only
    checkpoint: Checkpoint | None = None
    progress: Callable[[int, int], None] = lambda done, total: None


def recorded_rounds(rounds: int, points: int) -> set[int]:
    """Evenly spaced rounds at which to record, the last always among them."""
    if points <= 0:
        return {rounds - 1}
    return set(np.unique(np.linspace(0, rounds - 1, min(points, rounds)).round().astype(int)))


def train(
    learner: Learner, exchange: Exchange, rounds: int, recorder: Recorder, control: Control
) -> None:
    """Rounds of local steps and exchanges.

    A round begins with a look at the model. The last round is that look alone, as in the QAvg
    authors' code: T/E rounds report the model after T/E - 1 exchanges. A learner that counts
    episodes says itself when it has `finished`; that look is then the last.
    """
    first = 0
    if control.checkpoint is not None and (state := control.checkpoint.load()) is not None:
        first = state["round"]
        learner.restore(state["learner"])
        recorder.restore(state["recorder"])
    wanted = recorded_rounds(rounds, control.curve_points)
    for done in range(first, rounds):
        if control.checkpoint is not None and control.checkpoint.due():
            control.checkpoint.save(
                {"round": done, "learner": learner.state(), "recorder": recorder.state()}
            )
        learner.observe()
        last = done + 1 == rounds or getattr(learner, "finished", False)
        if done in wanted or last:
            for measurement in learner.measure():
                recorder.add(*measurement)
        if not last:
            learner.advance(exchange.steps)
            exchange(learner.parts)
        control.progress(done + 1, rounds)
        if last:
            break
