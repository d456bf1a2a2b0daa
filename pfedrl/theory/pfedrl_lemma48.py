"""PFedRL-Rep, Lemma 4.8: the weights that suit the features are Lipschitz in them."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl import ChainStatement, near_rank_one


class Lemma48(ChainStatement):
    """|y(Phi_1) - y(Phi_2)| <= L_y |Phi_1 - Phi_2| for some L_y.

    Its proof says that weights of norm at most B are at most 2B apart, which bounds their distance
    and not its ratio to that of the features. Near rank one, features that differ by next to
    nothing ask for weights of opposite directions.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.8"
    records: ClassVar[tuple[str, ...]] = ("margin", "drawn_margin")

    largest_norm: float = Field(20.0, gt=0, description="B, to which y(Phi) is scaled")
    lipschitz: float = Field(
        720.0, gt=0, description="L_y; 720 is the largest L that the other proofs name here"
    )
    apart: float = Field(
        1e-4, gt=0, description="from rank one; any L_y fails where it is small enough"
    )

    def pair(self, seeds: Sequence[int]) -> np.ndarray:
        """Features on both sides of rank one, [seed, 2, s, d]."""
        drawn = self.tried(seeds)
        return np.stack([near_rank_one(drawn, sign * self.apart) for sign in (1, -1)], axis=1)

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: L_y less the ratio near rank one; `drawn_margin`: the same for two features
        drawn at random, far from it."""
        return {
            "margin": self.lipschitz - self.ratio(seeds, self.pair(seeds)),
            "drawn_margin": self.lipschitz - self.ratio(seeds, self.drawn_pair(seeds)),
        }

    def drawn_pair(self, seeds: Sequence[int]) -> np.ndarray:
        drawn = self.tried(seeds)
        return np.stack([drawn, drawn[:, ::-1]], axis=1)

    def ratio(self, seeds: Sequence[int], pair: np.ndarray) -> np.ndarray:
        """|y_1 - y_2| / |Phi_1 - Phi_2| : [seed]."""
        field = MeanField.of(self.chains(seeds))
        weights = np.stack([field.weights(pair[:, side])[:, 0] for side in (0, 1)], axis=1)
        norm = np.linalg.norm(weights, axis=-1, keepdims=True)
        weights = weights * np.minimum(1.0, self.largest_norm / norm)
        features_apart = np.sqrt(((pair[:, 0] - pair[:, 1]) ** 2).sum(axis=(1, 2)))
        return np.linalg.norm(weights[:, 0] - weights[:, 1], axis=-1) / features_apart

    def instance(self, seed: int) -> dict[str, Any]:
        first, second = self.pair([seed])[0]
        return {
            **self.numbers(seed),
            "norm": self.largest_norm,
            "lipschitz": self.lipschitz,
            "first": first.tolist(),
            "second": second.tolist(),
        }
