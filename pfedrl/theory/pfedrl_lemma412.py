"""PFedRL-Rep, Lemma 4.12: how long the chains take until they look stationary."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.tabular.chain import Chain
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl import ChainStatement, lipschitz_g, lipschitz_h, unit

STEPS = 200  # after which no chain here is away from stationarity by more than rounding
ROUNDING = 1e-12


class Lemma412(ChainStatement):
    """tau_delta <= (log(1/delta) + log(2 L_1 C d)) / log(1/rho), and delta tau_delta -> 0.

    tau_delta is a maximum over all Phi and all theta of norm at most B (without that norm it is
    infinite, for h is quadratic in theta). It is taken over some, which bounds it from below: what
    holds for them may fail for others. rho is the chain's second eigenvalue, C the least constant
    that goes with it.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.12"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness", "vanishing")

    largest_norm: float = Field(20.0, gt=0, description="B")
    deltas: tuple[float, ...] = Field((1e-2, 1e-4, 1e-6), description="delta, falling")
    parameters: int = Field(16, gt=0, description="theta and Phi tried a seed")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least over delta of the bound less tau; `tightness`: the largest of their
        ratios; `vanishing`: the least fall of delta tau_delta from a delta to the next."""
        rows = [self.times(seed) for seed in seeds]
        tau, bound = (np.stack(part) for part in zip(*rows, strict=True))
        weighed = np.array(self.deltas) * tau
        return {
            "margin": (bound - tau).min(axis=1),
            "tightness": (tau / bound).max(axis=1),
            "vanishing": -np.diff(weighed, axis=1).max(axis=1),
        }

    def times(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """tau and its bound, each [delta]."""
        walk = self.chains([seed])
        field = MeanField.of(walk)
        moves = walk.transitions()[0, 0]
        away = self.away(moves, field.stationary[0, 0])
        rest = field.rest_point(unit_rows([seed], self.states, self.dimension))
        best = field.weights(rest)
        scale, rho = mixing(moves, away)
        constant = max(
            lipschitz_g(self.gamma, self.largest_norm),
            lipschitz_h(self.gamma, self.largest_norm),
            largest_update(walk, rest[0], best[0, 0]),
        )
        logarithm = np.log(2 * constant * scale * self.dimension / np.array(self.deltas))
        return self.slowest(seed, field, away, rest, best), logarithm / np.log(1 / rho)

    def slowest(
        self, seed: int, field: MeanField, away: np.ndarray, rest: np.ndarray, best: np.ndarray
    ) -> np.ndarray:
        """The largest tau of the parameters tried, [delta]."""
        rng = generator(seed, Purpose.INSTANCE, 1)
        tau = np.ones(len(self.deltas))
        for _ in range(self.parameters):
            features = unit(rng.standard_normal((1, self.states, self.dimension)))
            theta = self.largest_norm * unit(rng.standard_normal((1, 1, self.dimension)))
            errors = field.errors(features, theta)[0, 0]
            of_g = np.linalg.norm(away @ (errors[:, None] * features[0]), axis=-1)
            of_h = np.linalg.norm(away * errors, axis=-1) * self.largest_norm
            discrepancy = np.maximum(of_g, of_h).max(axis=1)  # xi_k for k = 1, 2, ...
            scale = np.linalg.norm(features - rest) + np.linalg.norm(theta - best) + 1
            for index, delta in enumerate(self.deltas):
                late = np.flatnonzero(discrepancy > delta * scale)
                if len(late):
                    tau[index] = max(tau[index], late[-1] + 2)
        return tau

    def away(self, moves: np.ndarray, stationary: np.ndarray) -> np.ndarray:
        """P(s_k = s | X_0) - mu(s) for k = 1, 2, ... and the second state of X_0: [k, s_1, s]."""
        powers = [np.eye(self.states)]
        for _ in range(STEPS - 1):
            powers.append(powers[-1] @ moves)
        return np.stack(powers) - stationary

    def instance(self, seed: int) -> dict[str, Any]:
        return self.numbers(seed)


def mixing(moves: np.ndarray, away: np.ndarray) -> tuple[float, float]:
    """C and rho of Assumption 4.3; X_0 itself is at most 1 away from stationarity."""
    rho = float(np.sort(np.abs(np.linalg.eigvals(moves)))[-2])
    apart = np.abs(away).sum(axis=-1).max(axis=1) / 2
    clear = np.flatnonzero(apart > ROUNDING)
    return max(1.0, float((apart[clear] / rho ** (1 + clear)).max())), rho


def largest_update(walk: Chain, features: np.ndarray, theta: np.ndarray) -> float:
    """The largest norm of g and h over observations, at (theta, Phi)."""
    value = features @ theta
    error = np.abs(walk.reward[0] + walk.gamma * value[walk.target] - value[:, None]).max()
    return float(error) * max(1.0, float(np.linalg.norm(theta)))
