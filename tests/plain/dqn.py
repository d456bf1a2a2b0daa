"""DQN as one would write it for a single agent: PyTorch modules, autograd, gymnasium."""

import gymnasium
import numpy as np
import torch
from torch import nn

from pfedrl.algorithms.dqn.settings import DeepSettings


def network(observation: int, actions: int, width: int, layers: int) -> nn.Sequential:
    modules: list[nn.Module] = []
    inputs = observation
    for _ in range(layers):
        modules += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*modules, nn.Linear(inputs, actions))


class PlainDQN:
    """One agent on CartPole."""

    def __init__(self, settings: DeepSettings, seed: int):
        torch.manual_seed(seed)
        self.settings, self.rng = settings, np.random.default_rng(seed)
        self.env = gymnasium.make("CartPole-v1", max_episode_steps=200)
        self.seen, _ = self.env.reset(seed=seed)
        self.net = network(4, 2, settings.width, settings.layers)
        self.target = network(4, 2, settings.width, settings.layers)
        self.target.load_state_dict(self.net.state_dict())
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=settings.learning_rate)
        size = settings.buffer
        self.replay: dict[str, np.ndarray] = {
            "seen": np.zeros((size, 4), np.float32), "following": np.zeros((size, 4), np.float32),
            "action": np.zeros(size, np.int64), "reward": np.zeros(size, np.float32),
            "over": np.zeros(size, np.float32),
        }  # fmt: skip
        self.stored = self.updates = 0

    def step(self) -> None:
        """One step in the environment and one gradient step."""
        settings = self.settings
        if self.rng.random() < settings.epsilon:
            action = int(self.rng.integers(2))
        else:
            with torch.no_grad():
                action = int(self.net(torch.from_numpy(self.seen)).argmax())
        following, reward, terminated, truncated, _ = self.env.step(action)
        at = self.stored % settings.buffer
        over = terminated or truncated
        for name, value in (("seen", self.seen), ("following", following), ("action", action),
                            ("reward", reward), ("over", over)):  # fmt: skip
            self.replay[name][at] = value
        self.stored += 1
        self.seen = self.env.reset()[0] if over else following
        if self.stored >= settings.warm_up:
            self.update()

    def update(self) -> None:
        settings = self.settings
        chosen = self.rng.integers(min(self.stored, settings.buffer), size=settings.batch)
        batch = {name: torch.from_numpy(rows[chosen]) for name, rows in self.replay.items()}
        with torch.no_grad():
            best = self.target(batch["following"]).max(1).values
            goal = batch["reward"] + settings.gamma * best * (1 - batch["over"])
        with torch.enable_grad():
            values = self.net(batch["seen"]).gather(1, batch["action"][:, None])[:, 0]
            loss = nn.functional.mse_loss(values, goal)
            self.optimiser.zero_grad()
            loss.backward()
        self.optimiser.step()
        self.updates += 1
        if self.updates % settings.target_every == 0:
            self.target.load_state_dict(self.net.state_dict())
