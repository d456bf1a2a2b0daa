"""PFedRL-Rep's updates g and h, the constants its proofs give them, and chains to try them on."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.tabular.chain import Chain, chain
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.theory.statement import Statement


def lipschitz_g(gamma: float, norm: float) -> float:
    """L_g of Appendix E.1, for weights of a norm B."""
    return max(1 + gamma, (2 + 2 * gamma) * norm)


def lipschitz_h(gamma: float, norm: float) -> float:
    """L_h of Appendix E.2."""
    return max((1 + gamma) * norm**2, (2 + 2 * gamma) * norm)


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of norm 1, as Algorithm 2 keeps them."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def near_rank_one(features: np.ndarray, apart: float) -> np.ndarray:
    """Every row moved to the first until only this share of the way is left: [..., s, d]."""
    first = features[..., :1, :]
    return unit(first + apart * (features - first))


class ChainStatement(Statement):
    """A seed's random MDP under the uniform policy, and features to try on it."""

    states: int = Field(8, gt=1)
    actions: int = Field(2, gt=1)
    dimension: int = Field(3, gt=1, description="d")
    gamma: float = Field(0.8, gt=0, lt=1)

    def chains(self, seeds: Sequence[int]) -> Chain:
        family = RandomMDP(
            states=self.states, actions=self.actions, agents=1, gamma=self.gamma, support=0.9
        )
        return chain(family.task(family.draw(seeds)))

    def tried(self, seeds: Sequence[int]) -> np.ndarray:
        """Features with unit rows, drawn apart from those that PFedTD-Rep would start from."""
        shape = (self.states, self.dimension)
        return unit(
            np.stack([generator(s, Purpose.INSTANCE).standard_normal(shape) for s in seeds])
        )

    def numbers(self, seed: int) -> dict[str, Any]:
        walk = self.chains([seed])
        return {
            "gamma": self.gamma,
            "moves": walk.moves()[0, 0].tolist(),
            "rewards": walk.rewards()[0, 0].tolist(),
            "features": self.tried([seed])[0].tolist(),
        }


class LipschitzStatement(Statement):
    """Two parameters theta and Phi that an update tells apart by at most L times their distance.

    The lemmas say that some L exists, which is so for theta of norm B and bounded rewards; what is
    tried here is the L that their proofs set, for rewards in [0, 1].
    An observation X = (s, r, s') meets two rows of Phi only. Most pairs are drawn; the last ones
    are built to be hard, with weights of norm B.
    """

    largest_norm: float = Field(20.0, gt=0, description="B")
    gamma: float = Field(0.8, gt=0, lt=1)
    dimension: int = Field(3, gt=1, description="d")
    pairs: int = Field(32, gt=0, description="drawn a seed")
    apart: float = Field(1e-4, gt=0, description="of the pairs that are built")

    @abstractmethod
    def constant(self) -> float:
        """L, as the proof sets it; the lemma names none."""

    @abstractmethod
    def update(self, error: np.ndarray, theta: np.ndarray, row: np.ndarray) -> np.ndarray:
        """g, or the row of h that changes, from the TD error [...], theta and Phi(s) [..., d]."""

    @abstractmethod
    def hard(self, along: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """theta and (Phi(s), Phi(s')) of the built pairs, from two unit vectors at right angles."""

    def drawn(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """theta [pair, 2, d], rows [pair, 2, (s, s'), d] and rewards in [0, 1] [pair]."""
        rng, count, size = generator(seed, Purpose.INSTANCE), self.pairs, self.dimension
        theta = unit(rng.standard_normal((count, 2, size)))
        theta *= self.largest_norm * rng.random((count, 2, 1))
        rows = unit(rng.standard_normal((count, 2, 2, size)))
        along, other = unit(rng.standard_normal((2, size)))
        hard_theta, hard_rows = self.hard(along, unit(other - (other @ along) * along))
        rewards = np.append(rng.random(count), np.ones(len(hard_theta)))
        return np.append(theta, hard_theta, axis=0), np.append(rows, hard_rows, axis=0), rewards

    def ratios(self, seed: int) -> np.ndarray:
        """How far the updates of each pair are apart over how far its parameters are: [pair]."""
        theta, rows, rewards = self.drawn(seed)
        value = np.einsum("pjsd,pjd->pjs", rows, theta)
        error = rewards[:, None] + self.gamma * value[..., 1] - value[..., 0]
        update = self.update(error, theta, rows[:, :, 0])
        apart = np.linalg.norm(theta[:, 0] - theta[:, 1], axis=-1)
        apart = apart + np.sqrt(((rows[:, 0] - rows[:, 1]) ** 2).sum(axis=(1, 2)))
        return np.linalg.norm(update[:, 0] - update[:, 1], axis=-1) / apart

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: L less the largest ratio of a pair; `tightness`: that ratio over L."""
        largest = np.array([self.ratios(seed).max() for seed in seeds])
        return {"margin": self.constant() - largest, "tightness": largest / self.constant()}

    def instance(self, seed: int) -> dict[str, Any]:
        theta, rows, rewards = self.drawn(seed)
        worst = int(self.ratios(seed).argmax())
        return {
            "gamma": self.gamma,
            "norm": self.largest_norm,
            "reward": float(rewards[worst]),
            "theta": theta[worst].tolist(),
            "rows": rows[worst].tolist(),
        }
