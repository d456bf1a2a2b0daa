"""FedKL, Theorem II: Algorithm 1, federated policy iteration, never gets worse."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.theory.fedkl import FedKLStatement, Quantities


class Theorem2(FedKLStatement):
    """With exact alpha, beta and delta, eta(pi^{t+1}) >= eta(pi^t) in every round."""

    label: ClassVar[str] = "FedKL Theorem II"
    records: ClassVar[tuple[str, ...]] = ("margin", "moved", "gained")

    iterations: int = Field(20, gt=0, description="rounds of Algorithm 1")

    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """`margin`: the least change of eta in a round; `moved`: how far the policy got, as the
        largest change of a probability; `gained`: eta at the end less eta at the start."""
        tasks = self.tasks(seeds)
        policy = tasks.policy
        first = value = tasks.returns(policy).mean(axis=1)
        margin = np.full(len(seeds), np.inf)
        for _ in range(self.iterations):
            policy = best_responses(policy, Quantities.at(tasks, policy)).mean(axis=1)
            before, value = value, tasks.returns(policy).mean(axis=1)
            margin = np.minimum(margin, value - before)
        return {
            "margin": margin,
            "moved": np.abs(policy - tasks.policy).max(axis=(1, 2)),
            "gained": value - first,
        }


def best_responses(policy: np.ndarray, now: Quantities) -> np.ndarray:
    """argmax of h_k(pi; pi^t) (22) for every agent k, exactly: [seed, agent, s, a].

    Probability moved to a state's best action from action a gains A(best) - A(a) and costs
    alpha + beta a unit, weighed by the visitation; only actions that gain more are worth it, the
    worst first. How much may move in a state is capped by D_TV^max, which costs delta a unit. For
    a given cap the best moves are known, and their worth is concave and piecewise linear in the
    cap: its maximum is at one of the amounts at which some state runs out of a worthwhile action.
    """
    gain = now.advantage.max(axis=-1, keepdims=True) - now.advantage
    net = gain - (now.alpha() + now.beta())[..., None, None]  # [seed, agent, s, a]
    order = np.argsort(-net, axis=-1)
    available = np.take_along_axis(np.broadcast_to(policy[:, None], net.shape), order, axis=-1)
    worth = np.take_along_axis(net, order, axis=-1)
    available = np.where(worth > 0, available, 0.0)
    ends = np.cumsum(available, axis=-1)
    begins = ends - available

    def moved(cap: np.ndarray) -> np.ndarray:
        """What leaves each action under caps [seed, agent]."""
        return np.clip(cap[..., None, None] - begins, 0.0, available)

    caps = np.concatenate([np.zeros((*ends.shape[:2], 1)), ends.reshape(*ends.shape[:2], -1)], -1)
    best, highest = np.zeros(ends.shape[:2]), np.zeros(ends.shape[:2])
    for cap in np.moveaxis(caps, -1, 0):
        gained = (now.visitation[..., None] * worth * moved(cap)).sum(axis=(2, 3))
        total = gained - now.delta() * cap
        best, highest = np.where(total > highest, cap, best), np.maximum(total, highest)
    leaving = np.empty_like(net)
    np.put_along_axis(leaving, order, moved(best), axis=-1)
    arriving = np.eye(net.shape[-1])[now.advantage.argmax(axis=-1)]
    return policy[:, None] - leaving + leaving.sum(axis=-1, keepdims=True) * arriving
