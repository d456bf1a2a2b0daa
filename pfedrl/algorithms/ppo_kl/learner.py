"""Rounds of PPO-KL: selected agents train from the model that the server sent to all."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from pfedrl.algorithms.ppo_kl.federation_settings import FederationSettings
from pfedrl.algorithms.ppo_kl.filters import RunningFilter
from pfedrl.algorithms.ppo_kl.heterogeneity import above_floor, heterogeneity
from pfedrl.algorithms.ppo_kl.settings import Pull
from pfedrl.algorithms.ppo_kl.update import PPOKL, Stack
from pfedrl.core.measurement import Measurement
from pfedrl.core.seeds import Purpose, generator
from pfedrl.core.sums import mean_in_order, sum_in_order
from pfedrl.envs.experience import Experience, Source
from pfedrl.stack.exchange import Parts
from pfedrl.stack.learner import Learner
from pfedrl.stack.selection import Selection

FIRST_RETRIED_ROUND = 4  # as in the authors' code
LAST_EPISODES = 20  # by which a retry is decided
ENDS = 5  # rounds at the start and at the end over which G is averaged
EARLY_ROUNDS = 3  # that gain most whatever G is, and are left out where gains are compared by it

KEPT = (
    "policy", "critic", "c1", "c2", "first", "second", "critic_steps",
    "previous_observations", "previous_returns", "trained", "round", "returns", "client_returns",
    "levels", "mean_levels", "cleared_levels", "selected_levels", "retries",
)  # fmt: skip


class Server(NamedTuple):
    """What the server holds at a round's start, an entry a seed."""

    policy: torch.Tensor
    critic: torch.Tensor
    c1: np.ndarray
    c2: np.ndarray


class Actor:
    """A stack that acts: filters what it sees, draws from its Gaussian policies."""

    def __init__(
        self,
        learner: "FederatedPPO",
        policy: torch.Tensor,
        seed: np.ndarray,
        agent: np.ndarray,
        generators: Sequence[np.random.Generator],
    ):
        self.learner, self.policy, self.generators = learner, policy, generators
        self.seed, self.agent = seed, agent
        std = learner.rule.log_std(policy).exp().numpy().astype(np.float64)
        self.std = np.repeat(std, len(agent) // len(policy), axis=0)[:, None]
        self.layers = learner.rule.policy.views(policy)
        self.untrained = (learner.trained[seed, agent] == 0)[:, None, None]
        self.step = 0

    def __call__(
        self, observations: np.ndarray, acting: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        learner = self.learner
        members, episodes, size = observations.shape
        who = slice(None) if acting is None else np.flatnonzero(acting)
        if self.step % learner.source.horizon == 0:
            self._draw((learner.source.horizon, episodes, learner.source.action_size), who)
        filtered = learner.observation_filter(self.seed[who], self.agent[who], observations[who])
        if acting is not None:
            some, filtered = filtered, observations.copy()
            filtered[who] = some
        inputs = torch.from_numpy(filtered.astype(np.float32)).view(len(self.policy), -1, size)
        mean = learner.rule.policy.forward(self.layers, inputs)[-1]
        at = self.step % learner.source.horizon
        actions = mean.numpy().reshape(members, episodes, -1) + self.std * self.noise[:, at]
        if learner.settings.untrained_act_randomly:
            chance = self.chance[:, at]
            actions = np.where(self.untrained & (chance[..., :1] < 0.5), chance[..., 1:], actions)
        self.step += 1
        return filtered, actions

    def _draw(self, shape: tuple[int, int, int], who: np.ndarray | slice) -> None:
        """An episode's worth of random numbers, each member's from its own generator."""
        members = np.arange(len(self.generators))
        self.noise = np.zeros((len(members), *shape))
        for member in members[who]:
            self.noise[member] = self.generators[member].standard_normal(shape)
        if self.learner.settings.untrained_act_randomly:
            self.chance = np.zeros((len(members), *shape[:2], 1 + shape[2]))
            for member in members[who]:
                self.chance[member] = self.generators[member].random(self.chance.shape[1:])


class FederatedPPO(Learner):
    """The selected agents of each seed train at once; between rounds all hold the global model."""

    def __init__(
        self, source: Source, seeds: Sequence[int], settings: FederationSettings, pull: Pull,
        selection: Selection,
    ):  # fmt: skip
        self.source, self.seeds, self.settings = source, list(seeds), settings
        self.selection = selection  # who trains in a round
        self.rule = PPOKL(settings, pull, source.observation_size, source.action_size)
        count, agents = len(self.seeds), source.agents
        start = [self.rule.initial(generator(s, Purpose.INITIAL)) for s in seeds]
        policy, critic = (torch.from_numpy(np.stack(rows)) for rows in zip(*start, strict=True))
        self.policy = policy.unsqueeze(1).repeat(1, agents, 1)
        self.critic = critic.unsqueeze(1).repeat(1, agents, 1)
        self.c1 = np.full((count, agents), pull.c1_start)
        self.c2 = np.full((count, agents), settings.c2_start)
        # what no exchange touches
        self.first = torch.zeros(count, agents, self.rule.critic.columns)
        self.second = torch.zeros_like(self.first)
        self.critic_steps = np.zeros((count, agents), np.int64)
        steps = settings.episodes * source.horizon
        self.previous_observations = torch.zeros(count, agents, steps, source.observation_size)
        self.previous_returns = torch.zeros(count, agents, steps)
        self.trained = np.zeros((count, agents), dtype=np.int64)  # iterations so far
        size = source.observation_size
        self.observation_filter = RunningFilter(count, agents, size, clip=5.0, centred=True)
        self.reward_filter = RunningFilter(count, agents, 1, clip=10.0, centred=False)
        self.round = 0
        self.returns: list[np.ndarray] = []  # each round's evaluation [seed]
        self.client_returns = np.empty((count, agents))
        self.levels: dict[str, np.ndarray] = {}  # the last round's heterogeneity [seed, agent]
        self.mean_levels: list[np.ndarray] = []  # each round's G [seed], the mean over agents
        self.cleared_levels: list[np.ndarray] = []  # the same without sampling noise
        self.selected_levels: list[np.ndarray] = []  # and the sum over those selected
        self.retries = np.zeros(count, dtype=np.int64)

    @property
    def parts(self) -> Parts:
        return {"policy": self.policy, "critic": self.critic, "c1": self.c1, "c2": self.c2}

    def collect(
        self, policy: torch.Tensor, seed: np.ndarray, agent: np.ndarray, episodes: int,
        generators: Sequence[np.random.Generator],
    ) -> tuple[Experience, np.ndarray]:  # fmt: skip
        """Experience with filtered rewards, and the raw return of each episode."""
        actor = Actor(self, policy, seed, agent, generators)
        lived = self.source.collect(seed, agent, episodes, actor, generators)
        filtered = self.reward_filter(seed, agent, lived.rewards[..., None])[..., 0]
        return lived._replace(rewards=filtered), lived.episode_returns()

    def observe(self) -> None:
        """Evaluate the global model on all agents, by the stochastic policy."""
        count, agents = len(self.seeds), self.source.agents
        seed, agent = (index.reshape(-1) for index in np.indices((count, agents)))
        generators = [
            generator(self.seeds[s], Purpose.EVALUATION, self.round, int(a))
            for s, a in zip(seed, agent, strict=True)
        ]
        policy = self.policy[:, 0]
        lived, returns = self.collect(
            policy, seed, agent, self.settings.evaluation_episodes, generators
        )
        self.client_returns = returns.mean(axis=1).reshape(count, agents)
        self.returns.append(self.client_returns.mean(axis=1))
        if self.settings.measure_heterogeneity:
            observations = torch.from_numpy(lived.observations.astype(np.float32))
            critic = self.critic[:, 0].repeat_interleave(agents, dim=0)
            advantages = self.rule.advantages(critic, observations, lived.rewards, lived.ends)
            shuffles = [
                generator(s, Purpose.EVALUATION, self.round, agents) for s in self.seeds
            ]  # agents draw from 0 to agents - 1
            self.levels = heterogeneity(
                lived, advantages, self.settings.discount, self.source.horizon, shuffles
            )
            level = self.levels["G"]
            self.mean_levels.append(level.mean(axis=1))
            self.cleared_levels.append(above_floor(self.levels)["G_above_floor"])
            chosen = np.take_along_axis(level, self.selection(self.round), axis=1)
            self.selected_levels.append(chosen.sum(axis=1))

    def advance(self, steps: int) -> None:
        """A round: so many iterations of every selected agent, again for those that failed."""
        selected = self.selection(self.round)
        seed, agent = np.repeat(np.arange(len(selected)), selected.shape[1]), selected.reshape(-1)
        bar = self.returns[-1] - abs(self.returns[-1]) if self.returns else None
        server = Server(*(part[:, 0] + 0.0 for part in self.parts.values()))
        retries = self.settings.retries if self.round >= FIRST_RETRIED_ROUND else 0
        for attempt in range(retries + 1):
            failed = self.train(server, steps, seed, agent, attempt, bar)
            if not failed.any():
                break
            if attempt < retries:
                seed, agent = seed[failed], agent[failed]
                np.add.at(self.retries, seed, 1)
        self.round += 1

    def stack(self, server: Server, seed: np.ndarray, agent: np.ndarray) -> Stack:
        """Agents that start from the server's model, with what each of them kept."""
        own = (seed, agent)
        averaged = self.settings.average_coefficients
        stack = Stack(
            policy=server.policy[seed],
            critic=server.critic[seed],
            anchor=server.policy[seed],
            first=self.first[own],
            second=self.second[own],
            critic_steps=self.critic_steps[own],
            previous_observations=self.previous_observations[own],
            previous_returns=self.previous_returns[own],
            seen_before=self.trained[own] > 0,
            c1=server.c1[seed] if averaged else self.c1[own],
            c2=server.c2[seed] if averaged else self.c2[own],
        )
        if self.settings.reset_c1:
            stack.c1 = np.full(len(seed), self.rule.pull.c1_start)
        return stack

    def train(
        self, server: Server, steps: int, seed: np.ndarray, agent: np.ndarray, attempt: int,
        bar: np.ndarray | None,
    ) -> np.ndarray:  # fmt: skip
        """Local training of stack members from the global model; which of them failed."""
        generators = [
            generator(self.seeds[s], Purpose.AGENT, int(a), self.round, attempt)
            for s, a in zip(seed, agent, strict=True)
        ]
        own = (seed, agent)
        stack = self.stack(server, seed, agent)
        for _ in range(steps):
            lived, returns = self.collect(
                stack.policy, seed, agent, self.settings.episodes, generators
            )
            self.rule.update(stack, lived, generators)
            self.trained[own] += 1
        self.policy[own], self.critic[own] = stack.policy, stack.critic
        self.c1[own], self.c2[own] = stack.c1, stack.c2
        self.first[own], self.second[own] = stack.first, stack.second
        self.critic_steps[own] = stack.critic_steps
        self.previous_observations[own] = stack.previous_observations
        self.previous_returns[own] = stack.previous_returns
        if bar is None:
            return np.zeros(len(seed), dtype=bool)
        return returns[:, -LAST_EPISODES:].mean(axis=1) <= bar[seed]

    def measure(self) -> Iterator[Measurement]:
        """The global model's return, how unsteady it has been, and the heterogeneity if asked."""
        history = np.stack(self.returns)
        latest = self.selection(max(self.round - 1, 0))  # who trained last
        found = {
            "return": history[-1],
            "best_return": history.max(axis=0),
            "mean_return": mean_in_order(history),  # over rounds: who learns faster has more
            # the deepest fall below what had been reached: how far training diverged
            "drawdown": (np.maximum.accumulate(history) - history).max(axis=0),
            "fall": history.max(axis=0) - history[-1],  # below the best now
            "c1": np.take_along_axis(self.c1, latest, axis=1).mean(axis=1),
            "c2": np.take_along_axis(self.c2, latest, axis=1).mean(axis=1),
            "retries": self.retries,
        }
        if self.settings.target is not None:  # all rounds so far, where it was not reached
            reached = history >= self.settings.target
            found["rounds_to_target"] = np.where(
                reached.any(axis=0), reached.argmax(axis=0), len(history)
            )
        if len(history) > 1:  # how much a round changes the return: how far training fluctuates
            found["fluctuation"] = mean_in_order(abs(np.diff(history, axis=0)))
        if self.settings.measure_heterogeneity:
            found |= self._levels(history)
        for metric, values in found.items():
            yield Measurement("round", self.round, metric, values)
        yield from self.source.measurements(self.round)

    def _levels(self, history: np.ndarray) -> dict[str, np.ndarray]:
        """G (Section V.B) over agents and over time, and what rounds gained by its sign."""
        mean, selected = np.stack(self.mean_levels), np.stack(self.selected_levels)
        found = {name: values.mean(axis=1) for name, values in self.levels.items()}
        found |= above_floor(self.levels)
        found["selected_G"] = selected[-1]  # summed over the agents that are about to train
        for name, level in (("G", mean), ("G_above_floor", np.stack(self.cleared_levels))):
            found[f"{name}_overall"] = mean_in_order(level)
            found[f"{name}_at_first"] = mean_in_order(level[:ENDS])
            found[f"{name}_lately"] = mean_in_order(level[-ENDS:])
        gains, negative = np.diff(history, axis=0), selected[:-1] < 0
        for when, first in (("", 0), ("late_", EARLY_ROUNDS)):
            found[f"{when}negative_rounds"] = negative[first:].sum(axis=0)
            for sign, rounds in (("negative", negative[first:]), ("positive", ~negative[first:])):
                with np.errstate(invalid="ignore"):  # no such round: no mean
                    total = sum_in_order(np.where(rounds, gains[first:], 0.0))
                    found[f"{when}gain_where_{sign}"] = total / rounds.sum(axis=0)
        return found

    def state(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in KEPT}
        filters = (self.observation_filter.state(), self.reward_filter.state())
        return {**kept, "filters": filters}

    def restore(self, state: dict[str, Any]) -> None:
        for name in KEPT:
            setattr(self, name, state[name])
        self.observation_filter.restore(state["filters"][0])
        self.reward_filter.restore(state["filters"][1])
