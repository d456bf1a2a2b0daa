"""PFedRL-Rep, Theorem 4.13 and Corollary 4.15: how fast PFedTD-Rep's error falls, in T and in N."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.td.pfedtd_rep import PFedTDRep
from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.core.sums import slope
from pfedrl.envs.family import Family
from pfedrl.envs.tabular.chain import chain
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.theory.equilibrium import MeanField
from pfedrl.theory.pfedrl import lipschitz_g, lipschitz_h
from pfedrl.theory.pfedrl_lemma410 import weights_omega
from pfedrl.theory.statement import APPLIES, Statement

POWER = 5 / 6  # of 1/(t+2) in both rates as printed; the proof has 1 for beta's
DELTA = 1e-6  # the bound holds for every delta with T >= 2 tau; this one makes its terms negligible
POINTS = 9  # at which a run's error is taken, over the last decade of T


class Theorem413(Statement):
    """M <= O((T+2)^-2/3) and, with steps that shrink with N, M <= O(N^-2/3 (T+2)^-2/3).

    M = ||Phi_t - Phi*||^2 + (beta_{t-1}/alpha_t) mean_i ||theta_{t+1}^i - y^i(Phi_t)||^2, equation
    (14). Phi* is where the expected update comes to rest from Phi_t (Remark 4.1). The agents are
    copies of one environment, so that nothing but N changes with N.
    """

    label: ClassVar[str] = "PFedRL-Rep Theorem 4.13"

    alpha: float = Field(gt=0, description="alpha_0 for one agent")
    alpha_power: float = Field(ge=0, description="of 1/(t+2); 0 is constant")
    beta: float = Field(gt=0, description="beta_0 for one agent")
    beta_power: float = Field(ge=0, description="of 1/(t+2); 0 is constant")
    alpha_shrink: float = Field(0.0, ge=0, description="alpha_0 falls with N by this power")
    beta_shrink: float = Field(0.0, ge=0, description="beta_0 falls with N by this power")
    agents: tuple[int, ...] = Field((1, 2, 4, 8, 16, 32), description="N")
    iterations: int = Field(10_000, ge=100, description="T, rounds")
    local_steps: int = Field(5, gt=0, description="K")
    states: int = Field(8, gt=1)
    actions: int = Field(2, gt=1)
    dimension: int = Field(3, gt=1, description="d")
    largest_norm: float = Field(20.0, gt=0, description="B")
    gamma: float = Field(0.8, gt=0, lt=1)

    def task(self, seeds: Sequence[int], agents: int) -> TabularTask:
        """N copies of a seed's random MDP, under the uniform policy."""
        family = RandomMDP(
            states=self.states, actions=self.actions, agents=agents, distinct=1,
            gamma=self.gamma, support=0.9,
        )  # fmt: skip
        return family.task(family.draw(seeds))

    def algorithm(self, agents: int) -> PFedTDRep:
        return PFedTDRep(
            training_rounds=self.iterations, local_steps=self.local_steps,
            alpha=self.alpha * agents**-self.alpha_shrink, alpha_power=self.alpha_power,
            beta=self.beta * agents**-self.beta_shrink, beta_power=self.beta_power,
            dimension=self.dimension, bound=self.largest_norm,
        )  # fmt: skip

    def times(self) -> np.ndarray:
        """The rounds t at which the error is taken."""
        last = self.iterations - 1
        return np.unique(np.geomspace(self.iterations / 10, last, POINTS).round().astype(int))

    def errors(self, seeds: Sequence[int], agents: int) -> tuple[np.ndarray, np.ndarray]:
        """||Phi_t - Phi*||^2 and the weighted error of the weights, each [time, seed].

        At the first round, and at the times over which slopes are fitted.
        """
        field = MeanField.of(chain(self.task(seeds, 1)))
        algorithm = self.algorithm(agents)
        task = self.task(seeds, agents)
        learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
        wanted = {0, *self.times()}
        of_features, of_weights = [], []
        for t in range(self.iterations):
            features = learner.features[:, 0].copy() if t in wanted else None
            learner.advance(1)
            if features is not None:
                apart = features - field.rest_point(features)
                away = learner.weights - field.weights(features)
                ratio = learner.beta.at(t - 1) / learner.alpha.at(t)
                of_features.append((apart**2).sum(axis=(1, 2)))
                of_weights.append(ratio * (away**2).sum(axis=2).mean(axis=1))
            exchange(learner.parts, t)
        return np.stack(of_features), np.stack(of_weights)

    def metrics(self, family: Family | None) -> set[str]:
        parts = ("", "features_", "weights_")
        found = (
            super().metrics(family)
            | {"bound_margin", "bound_tightness"}
            | {f"error_t_{t}" for t in self.times()}
        )
        found |= {f"slope_t_n_{agents}" for agents in self.agents}
        found |= {f"{part}error_n_{agents}" for part in parts for agents in self.agents}
        return found | {f"{part}slope_n" for part in parts if len(self.agents) > 1}

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`slope_t_n_N`: of log M over log(t+2), for N agents, over the last decade of T.

        `slope_n`: of log M over log N, M averaged (in logarithms) over that decade; likewise of
        the features' part of M and of the weights' part. `error_n_N` and its parts are those
        averages, `error_t_t` the course of M with the most agents. `bound_margin` and
        `bound_tightness` compare its M at T with the theorem's bound (16). `applies`: whether the
        rates are among those that the theorem can allow; see there.

        Slopes are over a window. They say nothing of an order, O(T^-2/3), which is about no window.
        """
        metrics: dict[str, np.ndarray] = {APPLIES: self.applies(seeds)}
        parts: dict[str, list[np.ndarray]] = {"": [], "features_": [], "weights_": []}
        elapsed = np.log(self.times() + 2.0)
        for agents in self.agents:
            features, weights = self.errors(seeds, agents)
            bound = self.bound(seeds, agents, features[0], weights[0])
            reached = features[-1] + weights[-1]
            features, weights = features[1:], weights[1:]
            whole = np.log(features + weights)
            metrics[f"slope_t_n_{agents}"] = slope(elapsed, whole)
            for name, part in (("", whole), ("features_", np.log(features)),
                               ("weights_", np.log(weights))):  # fmt: skip
                parts[name].append(part.mean(axis=0))
                metrics[f"{name}error_n_{agents}"] = np.exp(part.mean(axis=0))
        metrics["bound_margin"], metrics["bound_tightness"] = bound - reached, reached / bound
        for t, error in zip(self.times(), np.exp(whole), strict=True):
            metrics[f"error_t_{t}"] = error
        if len(self.agents) > 1:
            count = np.log(np.array(self.agents, float))
            for name, levels in parts.items():
                metrics[f"{name}slope_n"] = slope(count, np.stack(levels))
        return metrics

    @property
    def lipschitz(self) -> float:
        """L, the larger of L_g and L_h; of L_y Lemma 4.8 only says that it exists."""
        norm = self.largest_norm
        return max(lipschitz_g(self.gamma, norm), lipschitz_h(self.gamma, norm))

    def mixing_times(self, seeds: Sequence[int]) -> np.ndarray:
        """tau of delta, by Lemma 4.12: [seed]."""
        apart = DELTA / (2 * self.lipschitz * self.dimension)
        return chain(self.task(seeds, 1)).mixing_times(apart)[:, 0]

    def applies(self, seeds: Sequence[int]) -> np.ndarray:
        """Whether alpha_0 <= 1/(2L sqrt(2(1+L^2))), beta_0 <= omega/2, T >= 2 tau, and the powers
        are the printed ones or the proof's: [seed].

        What is checked is necessary, not sufficient. L is max(L_g, L_h): L_y would be a third, of
        which Lemma 4.8 only says that it exists, and a larger one asks for a smaller alpha_0. omega
        is the one that the first features allow: Lemma 4.10's, for all features, could only be
        smaller, so that a beta_0 above half of this is too large whatever omega is. (No L_y and no
        omega serve all features, so that strictly no step is allowed.) That the bound fails does
        not hang on it: tests/theory/test_counterexamples.py shows that on a stored instance all
        smaller alpha_0 and beta_0 break it too. With the printed powers beta_t/alpha_t does not
        vanish, which Assumption 4.2(vi) asks for and which is not held against them here.
        """
        largest = 1 / (2 * self.lipschitz * np.sqrt(2 * (1 + self.lipschitz**2)))
        falling = np.isclose(self.alpha_power, POWER) and any(
            np.isclose(self.beta_power, power) for power in (POWER, 1.0)
        )
        field = MeanField.of(chain(self.task(seeds, 1)))
        omega = weights_omega(field, unit_rows(seeds, self.states, self.dimension))
        slow = (self.beta <= omega / 2) & (self.iterations >= 2 * self.mixing_times(seeds))
        return (slow & (self.alpha <= largest) & falling).astype(float)

    def bound(
        self, seeds: Sequence[int], agents: int, features: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """The right side of (16) at T, from the first round's errors: [seed]."""
        lipschitz, steps, delta = self.lipschitz, self.local_steps, DELTA
        tau = self.mixing_times(seeds)
        algorithm = self.algorithm(agents)
        alpha, beta, norm = algorithm.alpha, algorithm.beta, self.largest_norm
        ratio = beta / (alpha / 2**self.alpha_power)  # beta_{-1} / alpha_0
        energy = (lipschitz * norm) ** 2
        noise = 4 * alpha * beta * steps**2 * (3 * delta**2 * (1 + norm**2) + energy)  # C_1
        noise += 2 * (alpha * steps) ** 2 * (3 * norm**2 + 3 * delta**2 + 2 * energy)
        noise += 8 * alpha * beta * delta**2
        carried = 144 * (tau * steps * lipschitz * delta) ** 2 + 4 * lipschitz**2 / agents  # C_2
        elapsed = self.iterations + 2
        later = noise + carried * alpha * beta * (features + weights / ratio)
        return (features + weights) / elapsed**2 + later / elapsed ** (2 / 3)

    def instance(self, seed: int) -> dict[str, Any]:
        """The chain, the features that PFedTD-Rep starts from, and where they come to rest."""
        walk = chain(self.task([seed], 1))
        features = unit_rows([seed], self.states, self.dimension)
        return {
            "gamma": self.gamma,
            "moves": walk.moves()[0, 0].tolist(),
            "rewards": walk.rewards()[0, 0].tolist(),
            "features": features[0].tolist(),
            "optimum": MeanField.of(walk).rest_point(features)[0].tolist(),
        }
