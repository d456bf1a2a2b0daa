"""The training loop: look, step, exchange; with a checkpoint now and then."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pfedrl.core.measurement import Measurement
from pfedrl.core.recorder import Recorder
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.exchange import Exchange, stack_shape
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
    learner: Learner, exchange: Exchange, rounds: int | None, recorder: Recorder, control: Control
) -> None:
    """Rounds of local steps and exchanges: so many, or until the learner has finished.

    A round begins with a look at the model. The last round is that look alone, as in the QAvg
    authors' code: T/E rounds report the model after T/E - 1 exchanges. Where all seeds have
    finished, that look is the last. A learner that trains until it has finished is asked for its
    measurements after every round, and says itself what is worth recording then.
    """
    wanted = set() if rounds is None else recorded_rounds(rounds, control.curve_points)
    done = 0
    sent = np.zeros(stack_shape(learner.parts)) if learner.parts else None  # bytes so far
    if control.checkpoint is not None and (state := control.checkpoint.load()) is not None:
        done, sent = state["round"], state["sent"]
        learner.restore(state["learner"])
        exchange.restore(state["exchange"])
        recorder.restore(state["recorder"])
    else:
        exchange.begin(learner.parts)
    last = False
    while not last:
        if control.checkpoint is not None and control.checkpoint.due():
            control.checkpoint.save({
                "round": done, "sent": sent, "learner": learner.state(),
                "exchange": exchange.state(), "recorder": recorder.state(),
            })  # fmt: skip
        learner.observe()
        last = done + 1 == rounds or bool(learner.finished.all())
        if rounds is None or done in wanted or last:
            for measurement in measured(learner, sent):
                recorder.add(*measurement)
        if not last:
            at_it = ~learner.finished[:, None]
            learner.advance(exchange.steps)
            if learner.parts:
                sent = sent + at_it * exchange(learner.parts, done)
        done += 1
        control.progress(done, rounds or done)


def measured(learner: Learner, sent: np.ndarray | None) -> Iterator[Measurement]:
    """What the learner reports, and what its agents have sent by then: each seed at its last."""
    if sent is None:
        yield from learner.measure()
        return
    axis, latest = "", np.full(len(sent), -1)
    for measurement in learner.measure():
        yield measurement
        axis = axis or measurement.axis  # the first is training's own; a trace has its seconds
        if measurement.axis == axis:
            latest[slice(None) if measurement.rows is None else measurement.rows] = measurement.at
    for at in np.unique(latest[latest >= 0]):
        rows = np.flatnonzero(latest == at)
        yield Measurement(axis, int(at), "megabytes_sent", sent[rows] / 1e6, rows)
