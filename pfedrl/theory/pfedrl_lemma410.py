"""PFedRL-Rep, Lemma 4.10: whether expected updates always point to one optimum."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl import ChainStatement, near_rank_one


class Lemma410(ChainStatement):
    """One omega > 0 for all Phi and theta: <Phi - Phi*, h(y(Phi), Phi)> <= -omega |Phi - Phi*|^2
    and <theta - y(Phi), g(theta, Phi)> <= -omega |theta - y(Phi)|^2.

    But rest points fill a manifold: where Phi* is rotated, however little, h is zero. And the
    nearer Phi is to rank one, the smaller the omega that it leaves the weights.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.10"
    records: ClassVar[tuple[str, ...]] = (
        "features_margin",
        "weights_margin",
        "drawn_features",
        "drawn_weights",
    )

    omega: float = Field(
        1e-6, gt=0, description="the one for all; any other positive one fails as well"
    )
    angle: float = Field(0.1, gt=0, description="of the rotation, in the first two dimensions")
    apart: float = Field(1e-4, gt=0, description="from rank one")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`features_margin`: what the rotated Phi* allows as omega, over omega, less 1.

        `weights_margin`: likewise what Phi near rank one allows. `drawn_features` and
        `drawn_weights` are what a drawn Phi allows, negative where none will do. Phi* is where the
        expected update comes to rest from PFedTD-Rep's start.
        """
        field, drawn = MeanField.of(self.chains(seeds)), self.tried(seeds)
        optimum = self.optimum(field, seeds)
        rotated = features_omega(field, optimum @ self.rotation(), optimum)
        flat = weights_omega(field, near_rank_one(drawn, self.apart))
        return {
            "features_margin": rotated / self.omega - 1,
            "weights_margin": flat / self.omega - 1,
            "drawn_features": features_omega(field, drawn, optimum),
            "drawn_weights": weights_omega(field, drawn),
        }

    def optimum(self, field: MeanField, seeds: Sequence[int]) -> np.ndarray:
        return field.rest_point(unit_rows(seeds, self.states, self.dimension))

    def rotation(self) -> np.ndarray:
        turn = np.eye(self.dimension)
        sine, cosine = np.sin(self.angle), np.cos(self.angle)
        turn[:2, :2] = [[cosine, -sine], [sine, cosine]]
        return turn

    def instance(self, seed: int) -> dict[str, Any]:
        optimum = self.optimum(MeanField.of(self.chains([seed])), [seed])[0]
        return {
            **self.numbers(seed),
            "omega": self.omega,
            "optimum": optimum.tolist(),
            "rotated": (optimum @ self.rotation()).tolist(),
            "near_rank_one": near_rank_one(self.tried([seed])[0], self.apart).tolist(),
        }


def features_omega(field: MeanField, features: np.ndarray, optimum: np.ndarray) -> np.ndarray:
    """The largest omega for which the features' half holds at these features: [seed]."""
    weights = field.weights(features)
    errors = field.errors(features, weights)
    push = (field.stationary[..., None] * errors[..., None] * weights[:, :, None])[:, 0]
    apart = features - optimum
    return -(apart * push).sum(axis=(1, 2)) / (apart**2).sum(axis=(1, 2))


def weights_omega(field: MeanField, features: np.ndarray) -> np.ndarray:
    """The largest omega for which the weights' half holds for all theta: [seed].

    The least eigenvalue of the symmetric part of Phi' D (I - gamma P) Phi.
    """
    weighted = field.stationary[:, 0, :, None] * features
    ahead = field.bootstrapped[:, 0] @ features
    system = np.swapaxes(weighted, -1, -2) @ (features - ahead)
    return np.linalg.eigvalsh((system + np.swapaxes(system, -1, -2)) / 2)[:, 0]
