"""An actor and a critic in one row of numbers, as nets of a stack."""

from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.nets import Perceptron, Views, uniform_start

LAST = 3e-3  # last layers start within +- this (Lillicrap et al. 2016)
Who = Literal["actor", "critic"]


class Both(NamedTuple):
    """Views of both nets on the same rows."""

    actor: Views
    critic: Views


class ActorCritic:
    """Parts are the actor's and the critic's: `actor_body`, `critic_head`, ..., side by side.

    The actor ends in a tanh; actions join the critic's second layer. Each has an embedding of its
    own, where there is one (QAvg's code).
    """

    def __init__(self, observations: int, actions: int, hidden: tuple[int, int], embedding: int):
        self.embedding = embedding
        self.actor = Perceptron(observations, *hidden, actions, output="tanh", embedding=embedding)
        self.critic = Perceptron(observations, *hidden, 1, embedding=embedding, joining=actions)
        self.columns = self.actor.columns + self.critic.columns
        self.first: dict[Who, int] = {"actor": 0, "critic": self.actor.columns}
        self.part: dict[str, slice] = {}
        self.names: list[str] = []
        nets: tuple[tuple[Who, Perceptron], ...] = (("actor", self.actor), ("critic", self.critic))
        for who, net in nets:
            first = self.first[who]
            for name, part in net.part.items():
                self.part[f"{who}_{name}"] = slice(first + part.start, first + part.stop)
            self.names += [f"{who}_{name}" for name in net.names]

    def initial_rows(self, seed: int, rows: int) -> np.ndarray:
        """A seed's agents: alike, but for their embeddings, U(-1, 1)."""
        random = generator(seed, Purpose.INITIAL)
        nets = self.actor, self.critic
        weights = np.concatenate([net.initial(random, uniform_start) for net in nets])
        for who, net in zip(("actor", "critic"), nets, strict=True):
            inputs = net.layers[-1][1]
            weights[self.part[f"{who}_head"]] *= LAST * np.sqrt(inputs)
        weights = np.tile(weights, (rows, 1))
        for row in range(rows):
            own = generator(seed, Purpose.INITIAL, row)
            for who in ("actor", "critic"):
                weights[row, self.part[f"{who}_embedding"]] = own.uniform(-1, 1, self.embedding)
        return weights

    def views(self, rows: Tensor) -> Both:
        return Both(
            self.actor.views(rows[:, : self.actor.columns]),
            self.critic.views(rows[:, self.actor.columns :]),
        )

    def actions(self, views: Both, seen: Tensor) -> Tensor:
        """[row, sample, number], each within +-1."""
        return self.actor.forward(views.actor, self.actor.with_embedding(views.actor, seen))[-1]

    def values(self, views: Both, seen: Tensor, action: Tensor) -> Tensor:
        """[row, sample, 1], by actions in the environment's units."""
        inputs = self.critic.with_embedding(views.critic, seen)
        return self.critic.forward(views.critic, inputs, action)[-1]


class Deterministic:
    """How nets [net, weight] act in rows of environments, equally many a net, without noise."""

    def __init__(self, net: ActorCritic, weights: Tensor, limit: float):
        self.net, self.views, self.limit = net, net.views(weights), limit
        self.nets = len(weights)
        self.seen = self.action = torch.empty(0)

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        seen = torch.from_numpy(observation.astype(np.float32))
        self.seen = seen.view(self.nets, -1, observation.shape[1])
        self.action = self.limit * self.net.actions(self.views, self.seen)
        return self.action.view(len(observation), -1).numpy()

    @property
    def value(self) -> np.ndarray:
        """[row], of the actions taken last, as the critics see it."""
        return self.net.values(self.views, self.seen, self.action).reshape(-1).numpy()
