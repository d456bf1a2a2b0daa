"""What is recorded of DQN learners.

`training_return` is what the last nine episodes of training gave. `greedy_return` is what the
agent's own net does in its own environment, frozen and without exploration; `greedy_return_average`
its mean over all looks so far, the area under that curve. `objective` and `held_out_objective` are
the agents' averaged net in the training and in the new environments, `baseline_*` the mean over all
pairs of an agent's net and an environment (QAvg, Section 7.1).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from pfedrl.algorithms.dqn.greedy import greedy_returns, value_errors
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.task import start_states

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner

SMOOTHED = 9  # episodes of training whose returns are averaged for a curve
POINTS = 100  # of a training curve, at the least
WINDOW = 10  # episodes whose mean return must reach a mark
MARKS = {"solve": 0.975, "half": 0.5}  # of the step cap: 195 and 100 of 200
PROBES = 256  # states on which environments are compared


def measures(learner: "DQNLearner") -> Iterator[Measurement]:
    """All that is known now; the whole of training at its end."""
    done = learner.episodes_done()
    ended = done == learner.settings.episodes
    yield from training_returns(learner, done)
    yield agents(learner, done, "diverged", learner.diverged.astype(float))
    stack = learner.weights.view(*learner.shape, -1)
    task, settings = learner.task, learner.settings
    count = task.agents
    starts = start_states(
        task.physics, learner.seeds, count + task.held_out.shape[1], settings.evaluation_episodes,
        done, learner.first_agent,
    )  # fmt: skip
    own = greedy(learner, stack, task.training[:, :, None], starts[:, :count, None])[:, :, 0]
    learner.looks.append(own)
    yield agents(learner, done, "greedy_return", own)
    yield agents(learner, done, "greedy_return_average", np.mean(learner.looks, axis=0))
    if learner.first_agent:  # newcomers are alone
        return
    for name, members, begin in (
        ("objective", task.training, starts[:, None, :count]),
        ("held_out_objective", task.held_out, starts[:, None, count:]),
    ):
        if not members.shape[1]:
            continue
        scores = greedy(learner, stack.mean(1, keepdim=True), members[:, None], begin)
        yield Measurement("episode", done, name, scores.mean(axis=(1, 2)))
        if settings.unit == "episode" and not learner.agree():
            scores = greedy(learner, stack, members[:, None], begin)
            yield Measurement("episode", done, f"baseline_{name}", scores.mean(axis=(1, 2)))
    if ended and settings.unit == "step":
        yield from personalisation_error(learner, done, starts[:, :count])
    if ended and len(learner.phases) > 1:
        yield from similarities(learner, done)


def agents(learner: "DQNLearner", at: int, metric: str, values: np.ndarray) -> Measurement:
    return Measurement("episode", at, metric, values.reshape(learner.shape))


def training_returns(learner: "DQNLearner", done: int) -> Iterator[Measurement]:
    """The curve since the last look; at the end, what Tables 3 and 4 of PFedRL-Rep report.

    `episodes_to_solve` [seed] is when the agents' mean return of ten episodes first reaches 195 of
    200 steps, `episodes_to_half` 100; where it never does (`reached_*` is 0), it is all episodes of
    training, a lower bound. Acrobot's returns, which are negative, have no such marks.
    """
    returns = learner.experience.returns
    stride = max(1, learner.settings.episodes // POINTS)
    for episode in range(learner.reported, done):
        if (episode + 1) % stride:
            continue
        recent = returns[:, max(0, episode + 1 - SMOOTHED) : episode + 1].mean(axis=1)
        yield agents(learner, episode + 1, "training_return", recent)
    learner.reported = done
    if done < learner.settings.episodes:
        return
    yield agents(learner, done, "return_average", returns.mean(axis=1))
    yield agents(learner, done, "return_variance", returns.var(axis=1))
    yield agents(learner, done, "return_deviation", returns.std(axis=1))
    yield agents(learner, done, "return_median", np.median(returns, axis=1))
    together = returns.reshape(*learner.shape, -1).mean(axis=1)
    if done < WINDOW or learner.settings.unit == "episode" or returns.min() < 0:
        return
    recent = np.lib.stride_tricks.sliding_window_view(together, WINDOW, axis=1).mean(axis=2)
    for name, share in MARKS.items():
        there = recent >= share * learner.task.physics.cap
        reached = there.any(axis=1)
        first = np.where(reached, there.argmax(axis=1) + WINDOW, float(done))
        first[np.isnan(together).any(axis=1)] = np.nan  # an agent diverged
        yield Measurement("episode", done, f"episodes_to_{name}", first)
        yield Measurement("episode", done, f"reached_{name}", reached.astype(float))


def greedy(
    learner: "DQNLearner", stack: torch.Tensor, members: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Mean greedy return [seed, net, member] of nets [seed, net, weight]; NaN where a net is.

    members [seed, net or 1, member, parameter], starts [seed, net or 1, member, episode, 4].
    """
    seeds, nets = stack.shape[:2]
    shape = (seeds, nets, members.shape[2], starts.shape[3])
    rows = (seeds * nets, shape[2] * shape[3], -1)
    parameters = np.broadcast_to(members[:, :, :, None], (*shape, members.shape[-1]))
    begin = np.broadcast_to(starts, (*shape, starts.shape[-1])).reshape(rows)
    weights = stack.reshape(seeds * nets, -1)
    scores = greedy_returns(
        learner.net, weights, learner.task.physics, parameters.reshape(rows), begin
    )
    scores[~torch.isfinite(weights).all(1).numpy()] = np.nan
    return scores.reshape(shape).mean(axis=3)


def personalisation_error(
    learner: "DQNLearner", done: int, starts: np.ndarray
) -> Iterator[Measurement]:
    """PFedRL-Rep, equation 56, as printed: E (max_a Q_i(s, a) - V^{i, pi_i}(s))^2, pi_i greedy.

    The expectation is over the states of greedy episodes; V is what the episode then gave,
    discounted. `worst_value_error` [seed] is the largest of the agents'.
    """
    replicas, episodes = learner.weights.shape[0], starts.shape[2]
    begin = starts.reshape(replicas, episodes, -1)
    parameters = np.repeat(learner.task.training.reshape(replicas, 1, -1), episodes, axis=1)
    errors = value_errors(
        learner.net, learner.weights, learner.task.physics, parameters, begin,
        learner.settings.gamma,
    )  # fmt: skip
    errors = np.where(learner.diverged, np.nan, errors).reshape(learner.shape)
    yield Measurement("episode", done, "value_error", errors)
    yield Measurement("episode", done, "worst_value_error", errors.max(axis=1))


def similarities(learner: "DQNLearner", done: int) -> Iterator[Measurement]:
    """Cosines between agents (PFedRL-Rep, Figures 14 and 15): of heads, bodies and transitions.

    `<what>_similarity_<j>` is each agent's to agent j. Transitions are the changes of state that
    each member makes on the same states and actions, less their mean over agents: uncentred, all
    are near 1. `similarity_correlation` [seed] is Pearson's, of heads' and transitions' cosines.
    """
    parts = learner.parts
    found = {
        "head": cosines(parts["head"].numpy()),
        "body": cosines(parts["body"].numpy()),
        "transition": cosines(transitions(learner)),
    }
    for name, matrix in found.items():
        for other in range(matrix.shape[2]):
            yield Measurement("episode", done, f"{name}_similarity_{other}", matrix[:, :, other])
    above = np.triu_indices(learner.shape[1], 1)
    if len(above[0]) < 3:
        return
    pairs = zip(found["head"], found["transition"], strict=True)
    correlation = [np.corrcoef(head[above], moves[above])[0, 1] for head, moves in pairs]
    yield Measurement("episode", done, "similarity_correlation", np.array(correlation))


def cosines(vectors: np.ndarray) -> np.ndarray:
    """[seed, agent, number] to [seed, agent, agent]."""
    vectors = vectors.astype(float)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=2, keepdims=True), 1e-12)
    return np.einsum("sif,sjf->sij", unit, unit)


def transitions(learner: "DQNLearner") -> np.ndarray:
    """Changes of state on each seed's probes, centred over agents: [seed, agent, number]."""
    physics, task = learner.task.physics, learner.task
    seeds, count = learner.shape
    changes = []
    for row, seed in enumerate(learner.seeds):
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
