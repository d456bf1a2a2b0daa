"""PPO-KL of one agent, plainly: PyTorch's layers and optimisers, gymnasium's environment."""

from copy import deepcopy

import numpy as np
import torch

from pfedrl.algorithms.ppo_kl.fed_kl import FedKL
from pfedrl.envs.experience import Experience


def network(rows: torch.Tensor, sizes: tuple[int, ...]) -> torch.nn.Sequential:
    """A row of a stack as an ordinary network."""
    layers, at = [], 0
    for i in range(len(sizes) - 1):
        linear = torch.nn.Linear(sizes[i], sizes[i + 1])
        count = sizes[i] * sizes[i + 1]
        with torch.no_grad():
            linear.weight.copy_(rows[at : at + count].view(sizes[i], sizes[i + 1]).T)
            linear.bias.copy_(rows[at + count : at + count + sizes[i + 1]])
        at += count + sizes[i + 1]
        layers += [linear, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


class RunningMoments:
    """The authors' filter, a number at a time."""

    def __init__(self, size: int):
        self.count, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.count += 1
        gap = x - self.mean
        self.mean += gap / self.count
        self.squares += gap * (x - self.mean)
        std = np.sqrt(self.squares / (self.count - 1)) if self.count > 1 else abs(self.mean)
        return np.clip((x - self.mean) / (std + 1e-8), -5, 5)


class PlainAgent:
    """One agent, as one would write it first."""

    def __init__(
        self, policy: torch.Tensor, critic: torch.Tensor, settings: FedKL, seen: int, actions: int
    ):
        self.settings = settings
        self.policy = network(policy, (seen, *settings.policy_hidden, actions))
        self.critic = network(critic, (seen, *settings.critic_hidden, 1))
        self.log_std = torch.nn.Parameter(policy[-actions:].clone())
        self.anchor, self.anchor_log_std = deepcopy(self.policy), self.log_std.detach().clone()
        parameters = [*self.policy.parameters(), self.log_std]
        self.policy_optimiser = torch.optim.SGD(parameters, lr=settings.learning_rate)
        self.critic_optimiser = torch.optim.Adam(self.critic.parameters(), settings.critic_rate)
        self.c1, self.c2 = settings.c1_start, settings.c2_start
        self.filter = RunningMoments(seen)

    def collect(self, env) -> int:
        """The episodes of an iteration, step by step; how many steps they were."""
        steps = 0
        for _ in range(self.settings.episodes):
            observation, ended = self.filter(env.reset()[0]), False
            while not ended:
                with torch.no_grad():
                    mean = self.policy(torch.as_tensor(observation, dtype=torch.float32))
                    action = torch.normal(mean, self.log_std.exp()).numpy()
                observation, _, terminated, truncated, _ = env.step(action)
                observation, ended = self.filter(observation), terminated or truncated
                steps += 1
        return steps

    def fit(self, lived: Experience, advantages: np.ndarray, returns: np.ndarray, random) -> None:
        """An iteration's updates on the batch of member 0."""
        x, actions, advantage, target = (
            torch.as_tensor(a[0], dtype=torch.float32)
            for a in (lived.observations, lived.actions, advantages, returns)
        )
        doubled, doubled_target = torch.cat([x, x]), torch.cat([target, target])
        hidden = [p for p in self.critic.parameters() if p.dim() == 2][:2]
        for _ in range(self.settings.critic_epochs):
            order = torch.from_numpy(random.permutation(len(doubled)))
            for chosen in order.split(self.settings.critic_batch):
                error = self.critic(doubled[chosen]).squeeze(1) - doubled_target[chosen]
                squares = (hidden[0] ** 2).sum() + (hidden[1] ** 2).sum()
                loss = (error**2).mean() + self.settings.critic_l2 * squares
                self.critic_optimiser.zero_grad()
                loss.backward()
                self.critic_optimiser.step()
        old, old_log_std = deepcopy(self.policy), self.log_std.detach().clone()
        for _ in range(self.settings.policy_epochs):
            order = torch.from_numpy(random.permutation(len(x)))
            for chosen in order.split(self.settings.policy_batch):
                with torch.no_grad():
                    before = torch.distributions.Normal(old(x[chosen]), old_log_std.exp())
                    fixed = torch.distributions.Normal(
                        self.anchor(x[chosen]), self.anchor_log_std.exp()
                    )
                now = torch.distributions.Normal(self.policy(x[chosen]), self.log_std.exp())
                ratio = now.log_prob(actions[chosen]) - before.log_prob(actions[chosen])
                weight = ratio.sum(1).exp().clamp(1e-8, 10.0)
                local = torch.distributions.kl_divergence(before, now).sum(1)
                distance = torch.distributions.kl_divergence(fixed, now).sum(1).clamp(min=1e-8)
                loss = (
                    self.c2 * local.mean()
                    + self.c1 * distance.sqrt().mean()
                    - (weight * advantage[chosen]).mean()
                )
                self.policy_optimiser.zero_grad()
                loss.backward()
                self.policy_optimiser.step()

    def flat(self) -> torch.Tensor:
        """The policy in a stack's layout."""
        pieces = []
        for layer in self.policy:
            if isinstance(layer, torch.nn.Linear):
                pieces += [layer.weight.T.reshape(-1), layer.bias]
        return torch.cat([*pieces, self.log_std]).detach()
