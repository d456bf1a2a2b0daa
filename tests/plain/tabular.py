"""The QAvg paper's tabular algorithms as a person would first write them: one seed, plain NumPy.

The batched kernels are held against this, for their numbers and for their speed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """One seed's environments."""

    transitions: np.ndarray  # [agent, s, a, s']
    reward: np.ndarray  # [s, a]
    start: np.ndarray  # [s]
    gamma: float


def q_values(problem: Problem, transitions: np.ndarray, value: np.ndarray) -> np.ndarray:
    return problem.reward + problem.gamma * transitions @ value


def policy_value(problem: Problem, transitions: np.ndarray, policy: np.ndarray) -> np.ndarray:
    chain = np.einsum("sa,sax->sx", policy, transitions)
    reward = (policy * problem.reward).sum(axis=1)
    return np.linalg.solve(np.eye(len(chain)) - problem.gamma * chain, reward)


def occupancy(problem: Problem, transitions: np.ndarray, policy: np.ndarray) -> np.ndarray:
    chain = np.einsum("sa,sax->sx", policy, transitions)
    identity = np.eye(len(chain))
    return (1 - problem.gamma) * np.linalg.solve(
        (identity - problem.gamma * chain).T, problem.start
    )


def objective(problem: Problem, policy: np.ndarray) -> float:
    values = [policy_value(problem, own, policy) @ problem.start for own in problem.transitions]
    return float(np.mean(values))


def greedy(table: np.ndarray) -> np.ndarray:
    return np.eye(table.shape[1])[table.argmax(axis=1)]


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def project(rows: np.ndarray) -> np.ndarray:
    """Each row on the simplex, by sorting."""
    ordered = -np.sort(-rows, axis=1)
    excess = (ordered.cumsum(axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    kept = (ordered > excess).sum(axis=1)
    return np.maximum(rows - excess[np.arange(len(rows)), kept - 1][:, None], 0)


def q_steps(
    problem: Problem, own: np.ndarray, table: np.ndarray, eta: float, steps: int
) -> np.ndarray:
    value = table.max(axis=1)
    for _ in range(steps):
        value = (1 - eta) * value + eta * q_values(problem, own, value).max(axis=1)
    return q_values(problem, own, value)


def soft_steps(
    problem: Problem, own: np.ndarray, logits: np.ndarray, eta: float, steps: int
) -> np.ndarray:
    for _ in range(steps):
        value = policy_value(problem, own, softmax(logits))
        advantage = q_values(problem, own, value) - value[:, None]
        logits = logits + eta * advantage / (1 - problem.gamma)
    return logits


def projected_steps(
    problem: Problem, own: np.ndarray, policy: np.ndarray, eta: float, steps: int
) -> np.ndarray:
    for _ in range(steps):
        q = q_values(problem, own, policy_value(problem, own, policy))
        visits = occupancy(problem, own, policy)
        policy = project(policy + eta * visits[:, None] * q / (1 - problem.gamma))
    return policy


Steps = Callable[[Problem, np.ndarray, np.ndarray, float, int], np.ndarray]
LEARNERS: dict[str, tuple[Steps, Callable[[np.ndarray], np.ndarray]]] = {
    "qavg": (q_steps, greedy),
    "soft_pavg": (soft_steps, softmax),
    "proj_pavg": (projected_steps, lambda policy: policy),
}


def train(
    algorithm: str, problem: Problem, table: np.ndarray, rounds: int, steps: int, eta: float,
    decay: float,
) -> tuple[np.ndarray, list[float]]:  # fmt: skip
    """The averaged table that the last round looks at, and the objective at every round."""
    local, policy_of = LEARNERS[algorithm]
    history: list[float] = []
    for done in range(rounds):
        if done > 2 and history[-1] - history[-2] < 1e-3 * history[-2]:
            eta *= decay
        history.append(objective(problem, policy_of(table)))
        if done + 1 < rounds:
            own = [local(problem, member, table, eta, steps) for member in problem.transitions]
            table = np.mean(own, axis=0)
    return table, history
