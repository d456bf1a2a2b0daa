"""DDPG for the whole stack: all agents of all seeds act together and learn a few at a time."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.adaptation import Adaptation, newcomers_weights
from pfedrl.algorithms.ddpg import kernels
from pfedrl.algorithms.ddpg.acting import Noisy
from pfedrl.algorithms.ddpg.actor_critic import ActorCritic, Deterministic, Who
from pfedrl.algorithms.ddpg.settings import DDPGSettings
from pfedrl.algorithms.deep.learner import DeepLearner
from pfedrl.algorithms.deep.looks import Look, frozen, personalisation_error, training_returns
from pfedrl.core.measurement import Measurement
from pfedrl.envs.environments import SteppedTask
from pfedrl.stack.denormals import flushed_denormals
from pfedrl.stack.optimisers import PYTORCH, adam, track

CACHED = 2_000_000  # numbers in nets that learn together: with targets and moments in the cache


class Team:
    """Replicas that learn together: views on their rows, made once."""

    def __init__(self, learner: "DDPGLearner", rows: slice):
        self.rows = rows
        net, replay = learner.net, learner.experience.replay
        rows_of = learner.weights[rows], learner.target[rows], learner.gradient[rows]
        self.nets, self.targets, self.gradients = (net.views(own) for own in rows_of)
        self.weights, self.target, self.gradient = (own.numpy() for own in rows_of)
        batch = replay.batch
        self.seen, self.following, self.action = (
            torch.from_numpy(of[rows]) for of in (batch.seen, batch.following, batch.action)
        )
        self.reward, self.stops = batch.reward[rows], replay.stops[rows]
        self.slope = torch.zeros(*self.reward.shape, 1)
        self.ascent = torch.full_like(self.slope, -1 / self.reward.shape[1])  # of the mean value


class DDPGLearner(DeepLearner):
    """Deterministic actors and their critics (Lillicrap et al. 2016), one pair a replica.

    Nets of this size are bound by memory: a whole stack of them does not stay in the cache from
    one product to the next. So a few replicas at a time go through the whole update.
    """

    KEPT = (*DeepLearner.KEPT, "frames", "best")
    net: ActorCritic
    experience: Noisy
    axis = "frame"

    def __init__(
        self, task: SteppedTask, seeds: Sequence[int], settings: DDPGSettings, embedding: int = 0,
        phases: tuple[str, ...] = ("all",), weights: np.ndarray | None = None,
        first_agent: int = 0, pairs: bool = False,
    ):  # fmt: skip
        environments = task.environments()
        agents = range(first_agent, first_agent + task.agents)
        self.experience = Noisy(environments, seeds, agents, settings)
        self.limit, self.length, self.pairs = self.experience.limit, settings.frames, pairs
        actions = environments.action_space.size
        hidden = settings.first_width, settings.second_width
        net = ActorCritic(environments.observation_size, actions, hidden, embedding)
        super().__init__(task, seeds, settings, net, phases, weights, first_agent)
        self.frames = 0  # steps that every replica has taken
        self.best = np.full(self.shape, -np.inf)  # of the greedy returns since learning began

    def _view(self) -> None:
        self.views = self.net.views(self.weights)
        replicas = len(self.weights)
        together = max(CACHED // self.net.columns, 2)
        self.teams = [
            Team(self, slice(first, min(first + together, replicas)))
            for first in range(0, replicas, together)
        ]

    def policy(self, weights: Tensor) -> Deterministic:
        return Deterministic(self.net, weights, self.limit)

    @flushed_denormals()
    def advance(self, steps: int) -> None:
        if self.settings.fresh_rounds:
            self._forget()
        steps = min(steps, self.length - self.frames)
        for _ in range(steps):
            self._step(~self.diverged)
        self.frames += steps
        for phase in self.phases[1:]:
            self._update(self._learning(), phase, again=True)

    @property
    def updated(self) -> bool:
        """Whether the nets have learnt, or were never to."""
        return self.phases[0] == "nothing" or bool(self.updates[self.phases[0]].any())

    def _learning(self) -> np.ndarray:
        return ~self.diverged & (self.experience.replay.size >= self.settings.warm_up)

    def _step(self, active: np.ndarray) -> None:
        """One step in the environments, and one gradient step where the replay is warm."""
        seen = self.experience.environments.observation.astype(np.float32)
        wanted = self.net.actions(self.views, torch.from_numpy(seen[:, None]))
        self.experience.step(wanted.squeeze(1).numpy(), active)
        self._update(self._learning(), self.phases[0])

    def _update(self, learning: np.ndarray, phase: str, again: bool = False) -> None:
        """One step of critics, actors and targets on a part of the nets, the rest held fixed."""
        if phase == "nothing" or not learning.any():
            return
        self.experience.sample(learning, again)
        for team in self.teams:
            if learning[team.rows].any():
                self._learn(team, learning[team.rows], phase)

    def _learn(self, team: Team, learning: np.ndarray, phase: str) -> None:
        actor, critic, nets = self.net.actor, self.net.critic, team.nets
        head_only, updates = phase == "head", self.updates[phase][team.rows].copy()
        ahead = self.limit * self.net.actions(team.targets, team.following)
        following = self.net.values(team.targets, team.following, ahead)
        seen = critic.with_embedding(nets.critic, team.seen)
        levels = critic.forward(nets.critic, seen, team.action)
        loss = self.loss[team.rows]
        kernels.loss_gradient(
            levels[-1].numpy(), following.numpy(), team.reward, team.stops, self.settings.gamma,
            learning, team.slope.numpy(), loss,
        )  # fmt: skip
        learning = learning & np.isfinite(loss)
        self.diverged[team.rows] |= ~np.isfinite(loss)
        critic.backward(
            nets.critic, levels, team.slope, team.gradients.critic, head_only=head_only,
            joining=team.action,
        )  # fmt: skip
        self._descend(team, "critic", phase, self.settings.critic_rate, learning, updates.copy())
        # the policy's gradient: dQ/da at its own action, by the critic as it is now
        deeds = actor.forward(nets.actor, actor.with_embedding(nets.actor, team.seen))
        action = self.limit * deeds[-1]
        seen = critic.with_embedding(nets.critic, team.seen)
        levels = critic.forward(nets.critic, seen, action)
        by_action = critic.backward(
            nets.critic, levels, team.ascent, None, to_inputs=True, joining=action
        )
        assert by_action is not None
        actor.backward(
            nets.actor, deeds, self.limit * by_action, team.gradients.actor, head_only=head_only
        )
        self._descend(team, "actor", phase, self.settings.actor_rate, learning, updates)
        self.updates[phase][team.rows] = updates
        track(team.target, team.weights, learning, self.settings.tau)

    def _descend(
        self, team: Team, who: Who, phase: str, rate: float, learning: np.ndarray,
        updates: np.ndarray,
    ) -> None:  # fmt: skip
        columns = self.net.part[f"{who}_{phase}"]
        mean, square = self.moments[:, team.rows]
        self.adjust(
            team.weights[:, columns], team.gradient[:, columns], team.rows, columns, learning
        )
        adam(
            team.weights, team.gradient, mean, square, updates, np.full(len(learning), rate),
            learning, columns.start, columns.stop, *PYTORCH, None,
        )  # fmt: skip

    def measure(self) -> Iterator[Measurement]:
        """Training returns and frozen returns of all seeds; the critics' errors at the end."""
        look = Look.of(self, np.arange(self.shape[0]), self.frames)
        yield from training_returns(self, look)
        for measurement in frozen(self, look, self.pairs):
            yield measurement
            if measurement.metric == "greedy_return" and (self.updated or look.ended):
                self.best = np.fmax(self.best, measurement.values)
                yield look.measured("best_greedy_return", self.best)
        if look.ended and not self.first_agent:
            yield from personalisation_error(self, look)
        self.looked += 1

    def newcomers(self, settings: DDPGSettings, way: Adaptation) -> "DDPGLearner":
        task = self.task.newcomers()
        fresh = [f"{who}_{part}" for who in ("actor", "critic") for part in way.fresh]
        weights = newcomers_weights(self.net, self.stack, self.seeds, task.agents, fresh)
        return DDPGLearner(
            task, self.seeds, settings, self.net.embedding, (way.trains,), weights,
            self.task.agents,
        )  # fmt: skip
