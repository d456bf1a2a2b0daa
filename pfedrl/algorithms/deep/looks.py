"""What frozen nets do, whoever the learner is.

`greedy_return` is what the agent's own net does in its own environment, frozen and without
exploration; `greedy_return_average` its mean over all looks so far, the area under that curve.
`objective` and `held_out_objective` are the agents' averaged net in the training and in the new
environments, `baseline_*` the mean over all pairs of an agent's net and an environment (QAvg,
Section 7.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from torch import Tensor, isfinite

from pfedrl.algorithms.deep.rollouts import MakePolicy, frozen_returns, value_errors
from pfedrl.core.measurement import Measurement
from pfedrl.envs.environments import evaluation_starts

if TYPE_CHECKING:
    from pfedrl.algorithms.deep.learner import DeepLearner


@dataclass(frozen=True)
class Look:
    """Some seeds of a learner, after so many episodes or frames that each of them has had."""

    axis: str
    at: int
    ended: bool  # training is over
    rows: np.ndarray  # where these seeds stand in the block
    seeds: list[int]
    task: Any  # a SteppedTask
    weights: Tensor  # [seed, agent, weight]
    diverged: np.ndarray  # [seed, agent]
    policy: MakePolicy
    settings: Any
    first_agent: int

    @classmethod
    def of(cls, learner: Any, rows: np.ndarray, at: int, **more: Any) -> Self:
        """A learner's seeds in these rows of its block."""
        task = learner.task
        return cls(
            learner.axis, at, at == learner.length, rows, [learner.seeds[row] for row in rows],
            replace(task, training=task.training[rows], held_out=task.held_out[rows]),
            learner.stack[rows], learner.diverged.reshape(learner.shape)[rows],
            learner.policy, learner.settings, learner.first_agent, **more,
        )  # fmt: skip

    def measured(
        self, metric: str, values: np.ndarray, which: np.ndarray | slice = slice(None)
    ) -> Measurement:
        """Values of these seeds, or of some of them."""
        return Measurement(self.axis, self.at, metric, values[which], self.rows[which])


def frozen(learner: "DeepLearner", look: Look, pairs: bool) -> Iterator[Measurement]:
    """Each net at home, the average everywhere, and all pairs of nets and places where asked."""
    task, rows = look.task, look.rows
    yield look.measured("diverged", look.diverged.astype(float))
    count = task.agents
    starts = evaluation_starts(
        learner.experience.environments, look.seeds, count + task.held_out.shape[1],
        look.settings.evaluation_episodes, look.at, look.first_agent,
    )  # fmt: skip
    own = returns(look, look.weights, task.training[:, :, None], starts[:, :count, None])[:, :, 0]
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
        scores = returns(look, look.weights.mean(1, keepdim=True), members[:, None], begin)
        yield look.measured(name, scores.mean(axis=(1, 2)))
        if pairs and apart.any():
            scores = returns(look, look.weights, members[:, None], begin)
            yield look.measured(f"baseline_{name}", scores.mean(axis=(1, 2)), apart)


def training_returns(learner: "DeepLearner", look: Look) -> Iterator[Measurement]:
    """Where training is counted in frames: the mean return of the episodes that ended since the
    last look, and of all so far; NaN where none did, and nothing before the first step."""
    if not look.at:
        return
    episodes, rows = learner.experience.episodes, look.rows
    now = np.stack([episodes.summed, episodes.done]).reshape(2, *learner.shape)[:, rows]
    recent = now - learner.told[:, rows]
    learner.told[:, rows] = now
    for name, (total, count) in (("training_return", recent), ("return_average", now)):
        mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        yield look.measured(name, mean)


def returns(look: Look, stack: Tensor, members: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Mean return [seed, net, member] of nets [seed, net, weight]; NaN where a net is.

    members [seed, net or 1, member, ...], starts [seed, net or 1, member, episode, number].
    """
    seeds, nets = stack.shape[:2]
    shape = (seeds, nets, members.shape[2], starts.shape[3])
    each = members.shape[3:]
    everyone = np.broadcast_to(members[:, :, :, None], (*shape, *each)).reshape(-1, *each)
    environments = look.task.evaluation(everyone)
    begin = np.broadcast_to(starts, (*shape, starts.shape[-1]))
    begin = begin.reshape(seeds * nets, -1, starts.shape[-1])
    weights = stack.reshape(seeds * nets, -1)
    scores = frozen_returns(look.policy(weights), environments, begin)
    scores[~isfinite(weights).all(1).numpy()] = np.nan
    return scores.reshape(shape).mean(axis=3)


def personalisation_error(learner: "DeepLearner", look: Look) -> Iterator[Measurement]:
    """PFedRL-Rep, equation 56, as printed: E (max_a Q_i(s, a) - V^{i, pi_i}(s))^2, pi_i greedy.

    The expectation is over the states of greedy episodes; V is what the episode then gave,
    discounted. `worst_value_error` [seed] is the largest of the agents'.
    """
    shape, settings = look.diverged.shape, look.settings
    replicas, episodes = look.diverged.size, settings.evaluation_episodes
    starts = evaluation_starts(
        learner.experience.environments, look.seeds, shape[1], episodes, look.at, look.first_agent
    )
    members = look.task.training.reshape(replicas, *look.task.training.shape[2:])
    environments = look.task.evaluation(np.repeat(members, episodes, axis=0))
    errors = value_errors(
        look.policy(look.weights.reshape(replicas, -1)), environments,
        starts.reshape(replicas, episodes, -1), settings.gamma,
    )  # fmt: skip
    errors = np.where(look.diverged, np.nan, errors.reshape(shape))
    yield look.measured("value_error", errors)
    yield look.measured("worst_value_error", errors.max(axis=1))
