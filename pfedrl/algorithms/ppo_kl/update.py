"""PPO with adaptive KL penalties, for a stack of agents (FedKL, Section IV and Algorithm 2).

Nothing here knows where experience comes from or who the agents are: a `Stack` goes in with a
batch, and comes out one iteration further.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from pfedrl.algorithms.ppo_kl import kernels
from pfedrl.algorithms.ppo_kl.settings import PPOKLSettings, Pull
from pfedrl.envs.experience import Experience
from pfedrl.stack.nets import Perceptron, glorot_start
from pfedrl.stack.optimisers import KERAS, adam, sgd

TOLERANCE = 1.1  # a coefficient moves when the distance is this far from its target
COEFFICIENT_CAP, C2_FLOOR = 20.0, 1e-8


@dataclass
class Stack:
    """A agents in training: everything an iteration changes. Tensors float32, arrays float64."""

    policy: torch.Tensor  # [A, P]: the network, then the log standard deviations
    critic: torch.Tensor  # [A, C]
    anchor: torch.Tensor  # [A, P]: the global policy at the round's start
    first: torch.Tensor  # [A, C]: Adam's moments of the critic
    second: torch.Tensor
    critic_steps: np.ndarray  # [A]
    previous_observations: torch.Tensor  # [A, T, observation]: the last batch the critic saw
    previous_returns: torch.Tensor  # [A, T]
    seen_before: np.ndarray  # [A]: whether there was such a batch
    c1: np.ndarray  # [A]
    c2: np.ndarray  # [A]
    policy_steps: int = 0  # of this round

    def adjust(self, gradient: torch.Tensor) -> None:
        """Change the policies' gradient [A, P] in place, before their step."""


@dataclass(frozen=True)
class Iteration:
    """What an iteration came to, an entry an agent."""

    local_kl: np.ndarray  # KL(old || new)
    distance: np.ndarray  # sqrt(share * KL(anchor || new))
    c1: np.ndarray
    c2: np.ndarray


class PPOKL:
    """The update rule: critic first, then the policy, then the penalties' weights."""

    def __init__(self, settings: PPOKLSettings, pull: Pull, observations: int, actions: int):
        self.settings, self.pull = settings, pull
        self.policy = Perceptron(
            observations, *settings.policy_hidden, actions, hidden="tanh",
            further={"log_std": actions},
        )  # fmt: skip
        self.critic = Perceptron(observations, *settings.critic_hidden, 1, hidden="tanh")
        hidden = range(len(settings.critic_hidden))
        self.critic_decay = 2 * settings.critic_l2 * self.critic.in_matrices(hidden)

    def initial(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A policy with unit standard deviations, and a critic: [P] and [C]."""
        return self.policy.initial(random, glorot_start), self.critic.initial(random, glorot_start)

    def means(self, policy: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
        """Mean actions [A, n, action] of policies [A, P] at observations [A, n, observation]."""
        return self.policy.outputs(policy, observations)

    def log_std(self, policy: torch.Tensor) -> torch.Tensor:
        """Log standard deviations [A, action], a view."""
        return policy[:, self.policy.part["log_std"]]

    def values(self, critic: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
        """The critic's values [A, n]."""
        return self.critic.outputs(critic, observations).squeeze(2)

    def advantages(
        self,
        critic: torch.Tensor,
        observations: torch.Tensor,
        rewards: np.ndarray,
        ends: np.ndarray,
    ) -> np.ndarray:
        """GAE by the critic as it stands, standardised over each agent's batch: [A, T]."""
        values = self.values(critic, observations).numpy().astype(np.float64)
        raw = np.empty_like(rewards)
        kernels.generalised_advantages(
            rewards, values, ends, self.settings.discount, self.settings.gae_lambda, raw
        )
        centred = raw - raw.mean(axis=1, keepdims=True)
        return centred / np.maximum(raw.std(axis=1, keepdims=True), 1e-8)

    def update(
        self, stack: Stack, lived: Experience, generators: Sequence[np.random.Generator]
    ) -> Iteration:
        """One iteration on a batch whose observations and rewards are filtered."""
        observations = torch.from_numpy(lived.observations.astype(np.float32))
        advantages = self.advantages(stack.critic, observations, lived.rewards, lived.ends)
        returns = np.empty_like(lived.rewards)
        kernels.discounted(lived.rewards, lived.ends, self.settings.discount, returns)
        self.fit_critic(
            stack, observations, torch.from_numpy(returns.astype(np.float32)), generators
        )
        old = stack.policy.clone()
        self.fit_policy(stack, old, observations, lived.actions, advantages, generators)
        return self.adapt(stack, old, observations, advantages.max(axis=1))

    def fit_critic(
        self,
        stack: Stack,
        observations: torch.Tensor,
        returns: torch.Tensor,
        generators: Sequence[np.random.Generator],
    ) -> None:
        """Regress on discounted returns of this batch and the one before, by Adam.

        An agent's first batch counts twice, so that all agents take equally many steps.
        """
        known = torch.from_numpy(stack.seen_before)[:, None]
        before = torch.where(known[..., None], stack.previous_observations, observations)
        inputs = torch.cat([observations, before], dim=1)
        before = torch.where(known, stack.previous_returns, returns)
        targets = torch.cat([returns, before], dim=1).unsqueeze(2)
        stack.previous_observations, stack.previous_returns = observations, returns
        stack.seen_before = np.ones_like(stack.seen_before)
        gradient = torch.empty_like(stack.critic)
        layers, gradients = self.critic.views(stack.critic), self.critic.views(gradient)
        arrays = [t.numpy() for t in (stack.critic, gradient, stack.first, stack.second)]
        rate = np.full(len(gradient), self.settings.critic_rate)
        everyone = np.ones(len(gradient), np.bool_)
        for _ in range(self.settings.critic_epochs):
            xs, ys = shuffled(generators, inputs, targets)
            for x, y in minibatches(self.settings.critic_batch, xs, ys):
                seen = self.critic.forward(layers, x)
                error = (seen[-1] - y).mul_(2.0 / x.shape[1])
                self.critic.backward(layers, seen, error, gradients)
                adam(
                    *arrays, stack.critic_steps, rate, everyone, 0, self.critic.columns, *KERAS,
                    self.critic_decay,
                )  # fmt: skip

    def fit_policy(
        self,
        stack: Stack,
        old: torch.Tensor,
        observations: torch.Tensor,
        actions: np.ndarray,
        advantages: np.ndarray,
        generators: Sequence[np.random.Generator],
    ) -> None:
        """E epochs of plain SGD on minus Equation (24)."""
        fixed = torch.cat(
            [
                torch.from_numpy(advantages.astype(np.float32)).unsqueeze(2),
                torch.from_numpy(actions.astype(np.float32)),
                self.means(old, observations),
                self.means(stack.anchor, observations),
            ],
            dim=2,
        )
        old_log_std, anchor_log_std = self.log_std(old).numpy(), self.log_std(stack.anchor).numpy()
        gradient = torch.empty_like(stack.policy)
        layers, gradients = self.policy.views(stack.policy), self.policy.views(gradient)
        log_std, d_log_std = self.log_std(stack.policy).numpy(), self.log_std(gradient).numpy()
        rate, everyone = np.empty(len(gradient)), np.ones(len(gradient), np.bool_)
        for _ in range(self.settings.policy_epochs):
            xs, batches = shuffled(generators, observations, fixed)
            for x, batch in minibatches(self.settings.policy_batch, xs, batches):
                seen = self.policy.forward(layers, x)
                error = torch.empty_like(seen[-1])
                kernels.policy_gradient(
                    seen[-1].numpy(), log_std, batch.numpy(), old_log_std, anchor_log_std,
                    stack.c1, stack.c2, self.pull.share, error.numpy(), d_log_std,
                )  # fmt: skip
                self.policy.backward(layers, seen, error, gradients)
                if self.pull.proximal:
                    gradient.add_(stack.policy - stack.anchor, alpha=self.pull.proximal)
                stack.adjust(gradient)
                stack.policy_steps += 1
                rate[:] = self.step_size(stack.policy_steps)
                sgd(
                    stack.policy.numpy(), gradient.numpy(), None, rate, everyone, 0,
                    self.policy.columns, 0.0, None,
                )  # fmt: skip

    def step_size(self, step: int) -> float:
        """The SGD step's size; FMARL lets it decay within a round."""
        tensors = 2 * len(self.policy.layers) + 1 if self.pull.decay_counts_tensors else 1
        return self.settings.learning_rate * self.pull.decay ** (step * tensors / 2)

    def adapt(
        self, stack: Stack, old: torch.Tensor, observations: torch.Tensor, scale: np.ndarray
    ) -> Iteration:
        """Move c2 and c1 by the distances on the whole batch (Section IV.C); scale: the largest
        advantage, over which a penalty has no say."""
        now, now_log_std = self.means(stack.policy, observations), self.log_std(stack.policy)
        measured = np.empty((2, len(scale), 2))
        for row, policy in enumerate((old, stack.anchor)):
            kernels.gaussian_kl(
                self.means(policy, observations).numpy(), self.log_std(policy).numpy(),
                now.numpy(), now_log_std.numpy(), self.pull.share, measured[row],
            )  # fmt: skip
        local_kl, distance = measured[0, :, 0], measured[1, :, 1]
        stack.c2 = adapted(stack.c2, local_kl, self.settings.d_local, C2_FLOOR, scale)
        stack.c1 = adapted(stack.c1, distance, self.pull.d_global, self.pull.c1_start, scale)
        return Iteration(local_kl, distance, stack.c1, stack.c2)


def adapted(
    coefficient: np.ndarray, distance: np.ndarray, target: float, floor: float, scale: np.ndarray
) -> np.ndarray:
    """Doubled above 1.1 target, halved below target / 1.1, then kept within bounds; 0 stays 0."""
    factor = np.where(distance > target * TOLERANCE, 2.0, 1.0)
    factor = np.where(distance < target / TOLERANCE, 0.5, factor)
    with np.errstate(divide="ignore"):
        cap = np.minimum(COEFFICIENT_CAP, scale / distance)
    moved = np.minimum(np.maximum(coefficient * factor, floor), cap)
    return np.where(coefficient == 0.0, 0.0, moved)


def shuffled(
    generators: Sequence[np.random.Generator], *tensors: torch.Tensor
) -> list[torch.Tensor]:
    """The tensors [A, T, ...] with each agent's rows in an order of its own."""
    orders = [g.permutation(tensors[0].shape[1]) for g in generators]
    found = [torch.empty_like(tensor) for tensor in tensors]
    for before, after in zip(tensors, found, strict=True):
        for rows, order, out in zip(before.numpy(), orders, after.numpy(), strict=True):
            np.take(rows, order, axis=0, out=out, mode="clip")  # a fourth of torch's indexing
    return found


def minibatches(size: int, *tensors: torch.Tensor):
    """Slices along the time axis; the last may be smaller."""
    return zip(*(tensor.split(size, dim=1) for tensor in tensors), strict=True)
