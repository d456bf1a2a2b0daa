"""Meeting new members after training: any learner that can give newcomers does it this way."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pfedrl.core.recorder import Recorder
from pfedrl.stack.exchange import never
from pfedrl.stack.learner import Learner
from pfedrl.stack.loop import Control, train

if TYPE_CHECKING:
    from torch import Tensor


class Adaptation(NamedTuple):
    """How a new member is met: parts that start anew, and what is trained ("all", a part, ...)."""

    fresh: tuple[str, ...]
    trains: str


class Schedule(Protocol):
    """How long newcomers train: settings of an algorithm, as they are in the new members."""

    @property
    def local_steps(self) -> int: ...

    def rounds(self) -> int | None: ...

    def watching(self, learner: Any, control: Control) -> Control: ...


class Startable(Protocol):
    """A net that knows where its agents start."""

    @property
    def part(self) -> Mapping[str, slice]: ...

    def initial_rows(self, seed: int, rows: int) -> np.ndarray: ...


class Adaptable(Protocol):
    """A learner whose result others can start from."""

    def newcomers(self, settings: Any, way: Adaptation) -> Learner:
        """Learners in the new members, which train by these settings."""


def adapt(
    learner: Adaptable, settings: Schedule, ways: Mapping[str, Adaptation], points: int,
    seeds: Sequence[int], recorder: Recorder,
) -> None:  # fmt: skip
    """Each way from the same result; newcomers share nothing. A way's name starts its metrics."""
    for name, way in ways.items():
        newcomers, kept = learner.newcomers(settings, way), Recorder(seeds)
        watched = settings.watching(newcomers, Control(points))
        train(newcomers, never(settings.local_steps), settings.rounds(), kept, watched)
        for axis, at, metric, values, rows in kept.state():
            recorder.add(axis, at, f"{name}_{metric}", values, rows)


def newcomers_weights(
    net: Startable, stack: "Tensor", seeds: Sequence[int], count: int, fresh: Sequence[str]
) -> np.ndarray:
    """Nets [seed, newcomer, column] from the agents' average; `fresh` parts start anew."""
    agents = stack.shape[1]
    weights = stack.mean(1, keepdim=True).expand(-1, count, -1).numpy().copy()
    for row, seed in enumerate(seeds):
        start = net.initial_rows(seed, agents + count)[agents:]
        for part in fresh:
            weights[row, :, net.part[part]] = start[:, net.part[part]]
    return weights
