"""What is recorded of DQN learners.

`training_return` is what the last nine episodes of training gave. `greedy_return` is what the
agent's own net does in its own environment, frozen and without exploration; `greedy_return_average`
its mean over all looks so far, the area under that curve. `objective` and `held_out_objective` are
the agents' averaged net in the training and in the new environments, `baseline_*` the mean over all
pairs of an agent's net and an environment (QAvg, Section 7.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from pfedrl.algorithms.dqn.greedy import greedy_returns, value_errors
from pfedrl.algorithms.dqn.metrics import MARKS, WINDOW
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.algorithms.measures import (
    cosines,
    episodes_to,
    return_summaries,
    training_curve,
)
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import ControlEnvironments, ControlTask, evaluation_starts
from pfedrl.stack.nets import Perceptron

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner

PROBES = 256  # states on which environments are compared


@dataclass(frozen=True)
class Look:
    """Some seeds of a learner, after a number of episodes that each of them has had."""

    at: int
    rows: np.ndarray  # where these seeds stand in the block
    seeds: list[int]
    task: ControlTask
    weights: torch.Tensor  # [seed, agent, weight]
    returns: np.ndarray  # of training, [seed, agent, episode]
    diverged: np.ndarray  # [seed, agent]
    net: Perceptron
    settings: DeepSettings
    first_agent: int

    @classmethod
    def of(cls, learner: "DQNLearner", rows: np.ndarray, at: int) -> "Look":
        task = learner.task
        return cls(
            at, rows, [learner.seeds[row] for row in rows],
            replace(task, training=task.training[rows], held_out=task.held_out[rows]),
            learner.weights.view(*learner.shape, -1)[rows],
            learner.experience.episodes.returns.reshape(*learner.shape, -1)[rows],
            learner.diverged.reshape(learner.shape)[rows],
            learner.net, learner.settings, learner.first_agent,
        )  # fmt: skip

    @property
    def ended(self) -> bool:
        return self.at == self.settings.episodes

    def measured(
        self, metric: str, values: np.ndarray, which: np.ndarray | slice = slice(None)
    ) -> Measurement:
        """Values of these seeds, or of some of them."""
        return Measurement("episode", self.at, metric, values[which], self.rows[which])


def measures(learner: "DQNLearner", rows: np.ndarray, at: int) -> Iterator[Measurement]:
    """All that is known now of some seeds; the whole of training at its end."""
    look = Look.of(learner, rows, at)
    task, settings = look.task, look.settings
    if look.ended:
        yield from training_returns(look)
    yield look.measured("diverged", look.diverged.astype(float))
    count = task.agents
    starts = evaluation_starts(
        look.seeds, count + task.held_out.shape[1], settings.evaluation_episodes, at,
        look.first_agent,
    )  # fmt: skip
    own = greedy(look, look.weights, task.training[:, :, None], starts[:, :count, None])[:, :, 0]
    learner.greedy_total[rows] += own
    yield look.measured("greedy_return", own)
    average = learner.greedy_total[rows] / (learner.looked[rows] + 1)[:, None]
    yield look.measured("greedy_return_average", average)
    if look.first_agent:  # newcomers are alone
        return
    apart = (look.weights != look.weights[:, :1]).any(2).any(1).numpy()
    for name, members, begin in (
        ("objective", task.training, starts[:, None, :count]),
        ("held_out_objective", task.held_out, starts[:, None, count:]),
    ):
        if not members.shape[1]:
            continue
        scores = greedy(look, look.weights.mean(1, keepdim=True), members[:, None], begin)
        yield look.measured(name, scores.mean(axis=(1, 2)))
        if settings.unit == "episode" and apart.any():
            scores = greedy(look, look.weights, members[:, None], begin)
            yield look.measured(f"baseline_{name}", scores.mean(axis=(1, 2)), apart)
    if look.ended and settings.unit == "step":
        yield from personalisation_error(look, starts[:, :count])
    if look.ended and len(learner.phases) > 1:
        yield from similarities(look)


def training_returns(look: Look) -> Iterator[Measurement]:
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
        first, reached = episodes_to(returns, share * look.task.physics.cap, WINDOW)
        yield look.measured(f"episodes_to_{name}", first, positive)
        yield look.measured(f"reached_{name}", reached.astype(float), positive)


def greedy(look: Look, stack: torch.Tensor, members: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Mean greedy return [seed, net, member] of nets [seed, net, weight]; NaN where a net is.

    members [seed, net or 1, member, parameter], starts [seed, net or 1, member, episode, 4].
    """
    seeds, nets = stack.shape[:2]
    shape = (seeds, nets, members.shape[2], starts.shape[3])
    parameters = np.broadcast_to(members[:, :, :, None], (*shape, members.shape[-1]))
    environments = ControlEnvironments(look.task.physics, parameters.reshape(-1, members.shape[-1]))
    begin = np.broadcast_to(starts, (*shape, starts.shape[-1]))
    begin = begin.reshape(seeds * nets, -1, starts.shape[-1])
    weights = stack.reshape(seeds * nets, -1)
    scores = greedy_returns(look.net, weights, environments, begin)
    scores[~torch.isfinite(weights).all(1).numpy()] = np.nan
    return scores.reshape(shape).mean(axis=3)


def personalisation_error(look: Look, starts: np.ndarray) -> Iterator[Measurement]:
    """PFedRL-Rep, equation 56, as printed: E (max_a Q_i(s, a) - V^{i, pi_i}(s))^2, pi_i greedy.

    The expectation is over the states of greedy episodes; V is what the episode then gave,
    discounted. `worst_value_error` [seed] is the largest of the agents'.
    """
    shape = look.diverged.shape
    replicas, episodes = look.diverged.size, starts.shape[2]
    begin = starts.reshape(replicas, episodes, -1)
    parameters = np.repeat(look.task.training.reshape(replicas, -1), episodes, axis=0)
    errors = value_errors(
        look.net, look.weights.reshape(replicas, -1),
        ControlEnvironments(look.task.physics, parameters), begin, look.settings.gamma,
    )  # fmt: skip
    errors = np.where(look.diverged, np.nan, errors.reshape(shape))
    yield look.measured("value_error", errors)
    yield look.measured("worst_value_error", errors.max(axis=1))


def similarities(look: Look) -> Iterator[Measurement]:
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


def transitions(look: Look) -> np.ndarray:
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
