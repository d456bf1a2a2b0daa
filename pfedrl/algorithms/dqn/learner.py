"""DQN for the whole stack: all agents of all seeds act, sample and learn in the same calls."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from pfedrl.algorithms.adaptation import Adaptation, newcomers_weights
from pfedrl.algorithms.deep.learner import DeepLearner
from pfedrl.algorithms.dqn import kernels
from pfedrl.algorithms.dqn.acting import EpsilonGreedy, Greedy
from pfedrl.algorithms.dqn.measures import measures
from pfedrl.algorithms.dqn.net import HeadOfLayers
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.core.measurement import Measurement
from pfedrl.envs.discrete import DiscreteTask
from pfedrl.stack.denormals import flushed_denormals
from pfedrl.stack.optimisers import PYTORCH, adam


class DQNLearner(DeepLearner):
    """Q nets with replay and target nets (Mnih et al. 2015), one a replica (seed, agent).

    A replica rests once it has had its episodes of the round, or its seed all of training; one
    whose loss is no longer finite has diverged: it ends there, and the others go on.
    """

    KEPT = (*DeepLearner.KEPT, "copied", "epsilon", "goal", "frames", "ended", "final")
    net: HeadOfLayers
    experience: EpsilonGreedy

    def __init__(
        self, task: DiscreteTask, seeds: Sequence[int], settings: DeepSettings, embedding: int = 0,
        phases: tuple[str, ...] = ("all",), weights: np.ndarray | None = None, first_agent: int = 0,
        head_layers: int = 1,
    ):  # fmt: skip
        environments = task.environments()
        actions, hidden = environments.action_space.count, [settings.width] * settings.layers
        sizes = environments.observation_size, *hidden, actions
        net = HeadOfLayers(*sizes, embedding=embedding, head_layers=head_layers)
        super().__init__(task, seeds, settings, net, phases, weights, first_agent)
        self.axis = "frame" if settings.frames else "episode"
        self.length = settings.frames or settings.episodes
        replicas = len(self.weights)
        self.copied = np.zeros(replicas, np.int64)  # the first phase's updates at the last copy
        agents = range(first_agent, first_agent + task.agents)
        self.experience = EpsilonGreedy(environments, seeds, agents, settings, embedding)
        batch = self.experience.replay.batch
        self.seen, self.following = torch.from_numpy(batch.seen), torch.from_numpy(batch.following)
        self.slope = np.zeros((*batch.reward.shape, actions), np.float32)
        self.loss_slope = torch.from_numpy(self.slope)
        self.epsilon = np.full(replicas, settings.epsilon)
        self.rate = np.full(replicas, settings.learning_rate)  # at first
        self.goal = 0  # episodes that this round ends with, where rounds are counted in episodes
        self.frames = 0  # steps that every replica has taken
        self.marks = np.array([self.length])  # when a seed is looked at
        self.ended = np.zeros(task.seeds, np.bool_)  # seeds at the end of training
        self.final = np.zeros((*self.shape, self.net.columns), np.float32)  # their nets

    def _view(self) -> None:
        self.layers, self.target_layers, self.gradient_layers = (
            self.net.views(rows) for rows in (self.weights, self.target, self.gradient)
        )
        self.arrays = self.weights.numpy(), self.gradient.numpy()  # the same numbers

    def policy(self, weights: Tensor) -> Greedy:
        return Greedy(self.net, weights)

    @property
    def finished(self) -> np.ndarray:
        """Which seeds have had all of their training: [seed]."""
        return np.logical_not(self._unfinished().reshape(self.shape).any(axis=1))

    def done(self) -> np.ndarray:
        """Episodes or frames that all agents of a seed have had, of those asked for: [seed]."""
        if self.settings.frames:
            return np.full(self.shape[0], min(self.frames, self.length))
        done = np.where(self.diverged, self.settings.episodes, self.experience.episodes.done)
        return np.minimum(done.reshape(self.shape).min(axis=1), self.settings.episodes)

    def _unfinished(self) -> np.ndarray:
        """Replicas still at it. In lock step the agents of a seed go on until the last is done."""
        if self.settings.frames:
            return np.full(len(self.diverged), self.frames < self.length) & ~self.diverged
        short = (self.experience.episodes.done < self.settings.episodes) & ~self.diverged
        if self.settings.unit == "step":
            seeds = short.reshape(self.shape).any(axis=1)
            short = np.repeat(seeds, self.shape[1]) & ~self.diverged
        return short

    @flushed_denormals()
    def advance(self, steps: int) -> None:
        if self.settings.fresh_rounds:
            self._fresh()
        if self.settings.unit == "episode":
            self.goal = min(self.goal + steps, self.settings.episodes)
            while (active := (self.experience.episodes.done < self.goal) & ~self.diverged).any():
                self._step(active)
            return
        if self.settings.frames:
            steps = min(steps, self.length - self.frames)
        active = self._unfinished()
        before_exchange = self.settings.targets_before_exchange
        if self.copies_between_rounds and not before_exchange:
            self._copy_targets(active)
        for _ in range(steps):
            self._step(active & ~self.diverged)
        self.frames += steps
        learning = active & ~self.diverged & (self.experience.replay.size >= self.settings.warm_up)
        for phase in self.phases[1:]:
            self._update(learning, phase, again=True)
        if self.copies_between_rounds and before_exchange:
            self._copy_targets(learning)

    @property
    def copies_between_rounds(self) -> bool:
        """Whether targets wait for a round's end, and the exchange: where rounds are shorter.

        PFedRL-Rep, Algorithm 4, lines 15 to 18. It matters: a target copied towards the end of a
        round, from a net that the average then replaces, and FedDQN with K = 5 hardly learns.
        """
        settings = self.settings
        return settings.unit == "step" and settings.local_steps <= settings.target_every

    def _fresh(self) -> None:
        self._forget()
        self.copied[:] = 0
        started = self.settings.epsilon_decay**self.experience.episodes.done
        self.epsilon[:] = self.settings.epsilon * started

    def _step(self, active: np.ndarray) -> None:
        """One step in the environments, and one gradient step where the replay is warm."""
        experience = self.experience
        seen = torch.from_numpy(experience.environments.observation[:, None])
        inputs = self.net.with_embedding(self.layers, seen)
        values = self.net.forward(self.layers, inputs)[-1]
        experience.step(values.squeeze(1).numpy(), self.epsilon, active)
        self._update(active & (experience.replay.size >= self.settings.warm_up), self.phases[0])

    def _update(self, learning: np.ndarray, phase: str, again: bool = False) -> None:
        """One Adam step on a part of the nets ("nothing" is one), the rest held fixed."""
        if phase == "nothing" or not learning.any():
            return
        settings, net = self.settings, self.net
        batch = self.experience.sample(learning, again)
        # a target that is copied at every step is the net itself
        lagging = settings.target_every > 1
        if lagging and phase == self.phases[0] and not self.copies_between_rounds:
            self._copy_targets(learning)
        if net.embedding:
            target = self.target if lagging else self.weights
            self.seen[:, :, : net.embedding] = self.weights[:, None, : net.embedding]
            self.following[:, :, : net.embedding] = target[:, None, : net.embedding]
        ahead = self.target_layers if lagging else self.layers
        following = net.forward(ahead, self.following)[-1].numpy()
        levels = net.forward(self.layers, self.seen)
        kernels.loss_gradient(
            levels[-1].numpy(), following, batch.action, batch.reward,
            self.experience.replay.stops,
            settings.gamma, learning, self.slope, self.loss,
        )  # fmt: skip
        self.diverged |= learning & ~np.isfinite(self.loss)
        net.backward(
            self.layers, levels, self.loss_slope, self.gradient_layers,
            head_only=phase == "head" and net.head_layers == 1,
        )  # fmt: skip
        columns = net.part[phase]
        self.adjust(
            self.arrays[0][:, columns], self.arrays[1][:, columns], slice(None), columns, learning
        )
        adam(
            *self.arrays, *self.moments, self.updates[phase],
            self._rate(), learning & ~self.diverged, columns.start, columns.stop,
            *PYTORCH, None,
        )  # fmt: skip
        if phase == self.phases[0]:
            self.epsilon[learning] *= settings.epsilon_decay

    def _copy_targets(self, learning: np.ndarray) -> None:
        """Where as many updates as a target lasts have gone by since it was copied."""
        updates = self.updates[self.phases[0]]
        due = learning & (updates - self.copied >= self.settings.target_every)
        if due.any():
            self.target.numpy()[due] = self.weights.numpy()[due]
            self.copied[due] = updates[due]

    def _rate(self) -> np.ndarray:
        """Each replica's learning rate, by its own episodes."""
        every = self.settings.halve_every
        return self.rate * 0.5 ** (self.experience.episodes.done // every) if every else self.rate

    def observe(self) -> None:
        """A seed at its end keeps the nets that it has then, however long others go on meeting."""
        ended = self.finished
        if ended.any():
            stack = self.stack.numpy()
            fresh = ended & ~self.ended
            self.final[fresh] = stack[fresh]
            stack[ended] = self.final[ended]
            self.ended = ended

    def measure(self) -> Iterator[Measurement]:
        """Training returns and frozen greedy returns of the seeds that have come to a mark.

        Each seed by its own episodes: when it is looked at must not depend on the others.
        """
        done, last = self.done(), len(self.marks) - 1
        for _ in self.marks:
            mark = self.marks[np.minimum(self.looked, last)]
            due = (self.looked <= last) & (done >= mark)
            if not due.any():
                return
            at = mark[due].min()
            rows = np.flatnonzero(due & (mark == at))
            yield from measures(self, rows, int(at))
            self.looked[rows] += 1

    def newcomers(self, settings: DeepSettings, way: Adaptation) -> "DQNLearner":
        task = self.task.newcomers()
        weights = newcomers_weights(self.net, self.stack, self.seeds, task.agents, way.fresh)
        return DQNLearner(
            task, self.seeds, settings, self.net.embedding, (way.trains,), weights,
            self.task.agents, self.net.head_layers,
        )  # fmt: skip
