"""DePRL on a problem whose gradients, optimum and constants are known exactly.

Worker i minimises F_i(phi, theta) = |phi + A_i theta - b_i|^2 / 2 + mu |theta|^2 / 2: a shared
representation phi and a private head theta that are coupled, with gradients that are linear and
therefore Lipschitz (Assumption 2). Gradient noise is Gaussian of variance sigma^2 (Assumptions 3
and 4). Expectations are means over replicates of the noise. Arrays are [seed, replicate, worker,
...]; a seed is a problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack import graphs
from pfedrl.stack.exchange import SharedParts
from pfedrl.stack.mixing import NeighbourAverage
from pfedrl.theory.statement import Statement

RIDGE = 0.1  # mu
GRAPHS = {"ring": graphs.ring, "full": graphs.fully_connected, "star": graphs.star}


@dataclass(frozen=True)
class Problem:
    """The workers' losses: A_i [seed, worker, p, h] and b_i [seed, worker, p]."""

    coupling: np.ndarray
    target: np.ndarray

    def residual(self, phi: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """phi + A theta - b, which is the gradient with respect to phi."""
        coupled = np.einsum("xiph,xrih->xrip", self.coupling, theta)
        return phi + coupled - self.target[:, None]

    def head_gradient(self, phi: np.ndarray, theta: np.ndarray) -> np.ndarray:
        back = np.einsum("xiph,xrip->xrih", self.coupling, self.residual(phi, theta))
        return back + RIDGE * theta

    def loss(self, phi: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """f, the mean over workers and replicates: [seed]."""
        squared = (self.residual(phi, theta) ** 2).sum(axis=-1) + RIDGE * (theta**2).sum(axis=-1)
        return squared.mean(axis=(1, 2)) / 2

    def smoothness(self) -> np.ndarray:
        """The smallest L of Assumption 2: [seed]."""
        norm = np.linalg.norm(self.coupling, ord=2, axis=(2, 3)).max(axis=1)
        return np.maximum(1.0, np.maximum(norm, norm**2 + RIDGE))

    def least_loss(self) -> np.ndarray:
        """f at the optimum: heads are solved for given phi, then phi: [seed]."""
        heads = self.coupling.shape[-1]
        across = np.swapaxes(self.coupling, -1, -2)
        inner = np.linalg.solve(across @ self.coupling + RIDGE * np.eye(heads), across)
        weight = np.eye(self.target.shape[-1]) - self.coupling @ inner  # [seed, worker, p, p]
        right = (weight @ self.target[..., None]).sum(axis=1)
        phi = np.linalg.solve(weight.sum(axis=1), right)[:, None, None, :, 0]
        theta = np.einsum("xihp,xrip->xrih", inner, self.target[:, None] - phi)
        return self.loss(phi, theta)


@dataclass(frozen=True)
class Course:
    """What a run showed, expectations over the noise: each [round, seed] unless said."""

    measure: np.ndarray  # M(k) of (10)
    consensus: np.ndarray  # its third term
    variability: np.ndarray  # [seed]: the largest mean square of Assumption 5 along the run
    first_loss: np.ndarray  # [seed]


class DePRLStatement(Statement):
    """Drawn problems, a graph and its mixing matrix, and how DePRL runs on them."""

    graph: Literal["ring", "full", "star"] = Field("ring", description="who is whose neighbour")
    mixing: Literal["doubly", "row"] = Field(
        "doubly", description="Metropolis weights, or 1/(degree+1) as in the authors' code"
    )
    head_steps: int = Field(2, gt=0, description="tau")
    noise: float = Field(0.5, ge=0, description="sigma")
    replicates: int = Field(16, gt=0, description="of the noise, for the expectation")
    representation: int = Field(3, gt=0, description="length of phi")
    head: int = Field(2, gt=0, description="length of theta")

    def problem(self, seeds: Sequence[int], workers: int) -> Problem:
        couplings, targets = [], []
        for seed in seeds:
            rng = generator(seed, Purpose.INSTANCE)
            couplings.append(rng.normal(size=(workers, self.representation, self.head)) / 2)
            targets.append(rng.normal(size=(workers, self.representation)))
        return Problem(np.stack(couplings), np.stack(targets))

    def matrix(self, workers: int) -> np.ndarray:
        """P [worker, worker]."""
        graph = GRAPHS[self.graph](workers)
        doubly = self.mixing == "doubly"
        return graphs.metropolis_weights(graph) if doubly else graphs.uniform_weights(graph)

    def train(
        self, problem: Problem, seeds: Sequence[int], alpha: np.ndarray, beta: np.ndarray,
        rounds: int,
    ) -> Course:  # fmt: skip
        """DePRL (Algorithm 1) from phi = 0, theta = 0, with rates a seed.

        Starting all workers alike makes the initial term that Lemma 8's proof drops exactly zero.
        """
        workers = problem.target.shape[1]
        exchange = SharedParts(("phi",), NeighbourAverage(self.matrix(workers)), every=1)
        rngs = [generator(seed, Purpose.AGENT) for seed in seeds]
        shape = (len(seeds), self.replicates, workers)
        phi, theta = np.zeros((*shape, self.representation)), np.zeros((*shape, self.head))
        width = self.head_steps * self.head + self.representation
        a, b = (rate[:, None, None, None] for rate in (alpha, beta))
        first = problem.loss(phi, theta)
        variability = np.zeros(len(seeds))
        measures, consensuses = [], []
        for number in range(rounds):
            drawn = np.stack([rng.standard_normal((*shape[1:], width)) for rng in rngs])
            mean = phi.mean(axis=2, keepdims=True)
            of_heads = problem.head_gradient(mean, theta).mean(axis=2)
            for step in range(self.head_steps):
                noise = drawn[..., step * self.head : (step + 1) * self.head]
                gradient = problem.head_gradient(phi, theta)
                theta = theta - a * (gradient + self.noise / np.sqrt(self.head) * noise)
            at_mean = problem.residual(mean, theta)
            of_phi = at_mean.mean(axis=2, keepdims=True)
            spread = ((at_mean - of_phi) ** 2).sum(axis=-1).mean(axis=(1, 2))
            variability = np.maximum(variability, spread)
            consensus = ((phi - mean) ** 2).sum(axis=-1).mean(axis=(1, 2))
            ratio = alpha * self.head_steps / beta
            measures.append(
                (of_phi**2).sum(axis=(2, 3)).mean(axis=1)
                + ratio * (of_heads**2).sum(axis=-1).mean(axis=1)
                + consensus
            )
            consensuses.append(consensus)
            noise = drawn[..., -self.representation :]
            gradient = problem.residual(phi, theta)
            phi = phi - b * (gradient + self.noise / np.sqrt(self.representation) * noise)
            exchange({"phi": phi.swapaxes(1, 2)}, number)  # workers before replicates
        return Course(np.stack(measures), np.stack(consensuses), variability, first)

    def numbers(self, seed: int, workers: int) -> dict[str, Any]:
        problem = self.problem([seed], workers)
        return {
            "coupling": problem.coupling[0].tolist(),
            "target": problem.target[0].tolist(),
            "mixing": self.matrix(workers).tolist(),
        }


def connectivity(matrix: np.ndarray) -> tuple[float, float]:
    """C and 1 - q of Theorem 1, from the least positive entry of P; q itself soon rounds to 1."""
    workers = len(matrix)
    least = float(matrix[matrix > 0].min())
    scale = 2 * (1 + least**-workers) / (1 - least**workers)
    return scale, -float(np.expm1(np.log1p(-(least**workers)) / workers))
