"""What is recorded of DQN learners, beside what their frozen nets do.

`training_return` is what the last nine episodes of training gave, or those since the last look
where training is counted in frames.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pfedrl.algorithms.deep import looks
from pfedrl.algorithms.deep.looks import Look, frozen, personalisation_error
from pfedrl.algorithms.dqn.metrics import MARKS, WINDOW
from pfedrl.algorithms.measures import (
    cosines,
    episodes_to,
    return_summaries,
    training_curve,
)
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.nets import Perceptron

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner

PROBES = 256  # states on which environments are compared


@dataclass(frozen=True)
class DQNLook(Look):
    """With the returns of training and the nets' architecture."""

    returns: np.ndarray  # of training, [seed, agent, episode]
    net: Perceptron

    @classmethod
    def of(cls, learner: Any, rows: np.ndarray, at: int, **more: Any) -> Self:
        returns = learner.experience.episodes.returns.reshape(*learner.shape, -1)[rows]
        return super().of(learner, rows, at, returns=returns, net=learner.net, **more)


def measures(learner: "DQNLearner", rows: np.ndarray, at: int) -> Iterator[Measurement]:
    """All that is known now of some seeds; the whole of training at its end."""
    look = DQNLook.of(learner, rows, at)
    settings = look.settings
    if settings.frames:
        yield from looks.training_returns(learner, look)
    elif look.ended:
        yield from training_returns(look)
    yield from frozen(learner, look, pairs=settings.unit == "episode")
    if look.ended and settings.unit == "step" and not look.first_agent:
        yield from personalisation_error(learner, look)
    if look.ended and settings.private_heads and not look.first_agent:
        yield from similarities(look)


def training_returns(look: DQNLook) -> Iterator[Measurement]:
    """The curve, and what Tables 3 and 4 of PFedRL-Rep report.

    `episodes_to_solve` [seed] is when the agents' mean return of ten episodes first reaches 195 of
    200 steps, `episodes_to_half` 100; where it never does (`reached_*` is 0), it is all episodes of
    training, a lower bound. Acrobot's returns, which are negative, have no such marks.
    """
    returns = look.returns
    for episode, recent in training_curve(returns, look.at):
        yield look.measured("training_return", recent)._replace(at=episode)
    for name, summary in return_summaries(returns).items():
        yield look.measured(name, summary)
    positive = (returns < 0).sum(axis=(1, 2)) == 0
    if look.at < WINDOW or look.settings.unit == "episode" or not positive.any():
        return
    for name, share in MARKS.items():
        first, reached = episodes_to(returns, share * look.task.cap, WINDOW)
        yield look.measured(f"episodes_to_{name}", first, positive)
        yield look.measured(f"reached_{name}", reached.astype(float), positive)


def similarities(look: DQNLook) -> Iterator[Measurement]:
    """Cosines between agents (PFedRL-Rep, Figures 14 and 15): of heads, bodies and transitions.

    `<what>_similarity_<j>` is each agent's to agent j. Transitions are the changes of state that
    each member makes on the same states and actions, less their mean over agents: uncentred, all
    are near 1. `similarity_correlation` [seed] is Pearson's, of heads' and transitions' cosines.
    """
    found = {
        "head": cosines(look.weights[:, :, look.net.part["head"]].numpy()),
        "body": cosines(look.weights[:, :, look.net.part["body"]].numpy()),
        "transition": cosines(transitions(look)),
    }
    for name, matrix in found.items():
        for other in range(matrix.shape[2]):
            yield look.measured(f"{name}_similarity_{other}", matrix[:, :, other])
    above = np.triu_indices(look.task.agents, 1)
    if len(above[0]) < 3:
        return
    pairs = zip(found["head"], found["transition"], strict=True)
    correlation = [np.corrcoef(head[above], moves[above])[0, 1] for head, moves in pairs]
    yield look.measured("similarity_correlation", np.array(correlation))


def transitions(look: DQNLook) -> np.ndarray:
    """Changes of state on each seed's probes, centred over agents: [seed, agent, number]."""
    physics, task = look.task.physics, look.task
    seeds, count = look.diverged.shape
    changes = []
    for row, seed in enumerate(look.seeds):
        uniform = generator(seed, Purpose.EVALUATION).uniform(-1, 1, (PROBES, physics.STATE))
        probes = np.tile(uniform * physics.box, (count * physics.actions, 1))
        state = probes.copy()
        action = np.tile(np.repeat(np.arange(physics.actions), PROBES), count)
        parameters = np.repeat(task.training[row], physics.actions * PROBES, axis=0)
        quiet = np.zeros(len(state), np.float32), np.zeros(len(state), np.bool_)
        physics.step(state, action, parameters, np.ones(len(state), np.bool_), *quiet)
        # a swing across the top is a small change, not a turn
        change = state - probes
        change[:, :2] = (change[:, :2] + np.pi) % (2 * np.pi) - np.pi
        changes.append(change.reshape(count, -1))
    stacked = np.array(changes).reshape(seeds, count, -1)
    return stacked - stacked.mean(axis=1, keepdims=True)
