"""PFedRL-Rep, Lemma 4.10: whether expected updates always point to one optimum."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.tabular.chain import Chain, chain
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.statement import Statement


class Lemma410(Statement):
    """<Phi - Phi*, h(y(Phi), Phi)> <= -omega |Phi - Phi*|^2 for all Phi, with an omega > 0.

    And <theta - y(Phi), g(theta, Phi)> <= -omega |theta - y(Phi)|^2. But rest points fill a
    manifold: at any other one h is zero, and near it h points there and not to Phi*.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.10"
    records: ClassVar[tuple[str, ...]] = ("margin", "weights_margin")

    states: int = Field(8, gt=1)
    actions: int = Field(2, gt=1)
    dimension: int = Field(3, gt=1, description="d")
    gamma: float = Field(0.8, gt=0, lt=1)

    def chains(self, seeds: Sequence[int]) -> Chain:
        """A seed's random MDP under the uniform policy."""
        family = RandomMDP(
            states=self.states, actions=self.actions, agents=1, gamma=self.gamma, support=0.9
        )
        return chain(family.task(family.draw(seeds)))

    def tried(self, seeds: Sequence[int]) -> np.ndarray:
        """Features with unit rows, drawn apart from those that PFedTD-Rep would start from."""
        shape = (self.states, self.dimension)
        drawn = np.stack([generator(s, Purpose.INSTANCE).standard_normal(shape) for s in seeds])
        return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the omega that the seed's Phi allows, negative where none will do.

        Phi* is where the expected update comes to rest from PFedTD-Rep's start, Phi is drawn.
        `weights_margin`: the same for theta, over all theta: the least eigenvalue of the symmetric
        part of Phi' D (I - gamma P) Phi.
        """
        field = MeanField.of(self.chains(seeds))
        optimum = field.rest_point(unit_rows(seeds, self.states, self.dimension))
        features = self.tried(seeds)
        weights = field.weights(features)
        errors = field.errors(features, weights)
        push = field.stationary[..., None] * errors[..., None] * weights[:, :, None]
        apart = features - optimum
        towards = (apart * push[:, 0]).sum(axis=(1, 2)) / (apart**2).sum(axis=(1, 2))
        weighted = field.stationary[:, 0, :, None] * features
        ahead = field.bootstrapped[:, 0] @ features
        system = np.swapaxes(weighted, -1, -2) @ (features - ahead)
        symmetric = (system + np.swapaxes(system, -1, -2)) / 2
        return {
            "margin": -towards,
            "weights_margin": np.linalg.eigvalsh(symmetric)[:, 0],
        }

    def instance(self, seed: int) -> dict[str, Any]:
        walk = self.chains([seed])
        field = MeanField.of(walk)
        return {
            "gamma": self.gamma,
            "moves": walk.moves()[0, 0].tolist(),
            "rewards": walk.rewards()[0, 0].tolist(),
            "features": self.tried([seed])[0].tolist(),
            "optimum": field.rest_point(unit_rows([seed], self.states, self.dimension))[0].tolist(),
        }
