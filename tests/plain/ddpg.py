"""DDPG as one would write it for a single agent: PyTorch modules, autograd, gymnasium."""

from typing import Any

import numpy as np
import torch
from torch import nn

from pfedrl.algorithms.ddpg.settings import DDPGSettings


class Actor(nn.Module):
    def __init__(self, observations: int, actions: int, hidden: tuple[int, int], limit: float):
        super().__init__()
        self.first = nn.Linear(observations, hidden[0])
        self.second = nn.Linear(hidden[0], hidden[1])
        self.last = nn.Linear(hidden[1], actions)
        self.limit = limit

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        out = torch.relu(self.second(torch.relu(self.first(seen))))
        return self.limit * torch.tanh(self.last(out))


class Critic(nn.Module):
    """Actions join the second layer."""

    def __init__(self, observations: int, actions: int, hidden: tuple[int, int]):
        super().__init__()
        self.first = nn.Linear(observations, hidden[0])
        self.second = nn.Linear(hidden[0] + actions, hidden[1])
        self.last = nn.Linear(hidden[1], 1)

    def forward(self, seen: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        out = torch.cat([torch.relu(self.first(seen)), action], 1)
        return self.last(torch.relu(self.second(out)))


class PlainDDPG:
    """One agent in an environment with gymnasium's interface."""

    def __init__(self, settings: DDPGSettings, env: Any, seed: int):
        torch.manual_seed(seed)
        self.settings, self.env, self.rng = settings, env, np.random.default_rng(seed)
        self.seen, _ = env.reset(seed=seed)
        seen, actions = len(self.seen), env.action_space.shape[0]
        self.limit = float(env.action_space.high[0])
        hidden = settings.first_width, settings.second_width
        self.actor, self.late_actor = (Actor(seen, actions, hidden, self.limit) for _ in range(2))
        self.critic, self.late_critic = (Critic(seen, actions, hidden) for _ in range(2))
        self.late_actor.load_state_dict(self.actor.state_dict())
        self.late_critic.load_state_dict(self.critic.state_dict())
        self.prepare()
        size, single = settings.buffer, np.float32
        self.replay = {
            "seen": np.zeros((size, seen), single), "following": np.zeros((size, seen), single),
            "action": np.zeros((size, actions), single), "reward": np.zeros((size, 1), single),
            "stops": np.zeros((size, 1), single),
        }  # fmt: skip
        self.noise, self.stored = np.zeros(actions), 0

    def prepare(self) -> None:
        settings = self.settings
        self.actor_adam = torch.optim.Adam(self.actor.parameters(), lr=settings.actor_rate)
        self.critic_adam = torch.optim.Adam(self.critic.parameters(), lr=settings.critic_rate)

    def step(self) -> None:
        """One step in the environment and one gradient step."""
        settings = self.settings
        with torch.no_grad():
            wanted = self.actor(torch.from_numpy(self.seen.astype(np.float32))[None])[0].numpy()
        self.noise += settings.noise_spread * self.rng.standard_normal(len(self.noise))
        self.noise -= settings.noise_pull * self.noise
        action = np.clip(wanted + self.limit * self.noise, -self.limit, self.limit)
        following, reward, terminated, truncated, _ = self.env.step(action)
        at = self.stored % settings.buffer
        stops = terminated or (truncated and settings.truncation_stops)
        for name, value in (("seen", self.seen), ("following", following), ("action", action),
                            ("reward", reward), ("stops", stops)):  # fmt: skip
            self.replay[name][at] = value
        self.stored += 1
        self.seen = following
        if terminated or truncated:
            self.seen, self.noise = self.env.reset()[0], np.zeros(len(self.noise))
        if self.stored >= settings.warm_up:
            self.update()

    def update(self) -> None:
        settings = self.settings
        chosen = self.rng.integers(min(self.stored, settings.buffer), size=settings.batch)
        batch = {name: torch.from_numpy(rows[chosen]) for name, rows in self.replay.items()}
        with torch.no_grad():
            ahead = self.late_critic(batch["following"], self.late_actor(batch["following"]))
            goal = batch["reward"] + settings.gamma * (1 - batch["stops"]) * ahead
        with torch.enable_grad():
            values = self.critic(batch["seen"], batch["action"])
            self.critic_adam.zero_grad()
            nn.functional.mse_loss(values, goal).backward()
            self.critic_adam.step()
            self.actor_adam.zero_grad()
            (-self.critic(batch["seen"], self.actor(batch["seen"])).mean()).backward()
            self.actor_adam.step()
        with torch.no_grad():
            for net, late in ((self.actor, self.late_actor), (self.critic, self.late_critic)):
                for own, follows in zip(net.parameters(), late.parameters(), strict=True):
                    follows.lerp_(own, settings.tau)
