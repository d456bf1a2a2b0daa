"""Stored counterexamples: each file is what its seed gives, and fails by plain NumPy alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.registry import load

FILES = sorted(Path(__file__).with_name("counterexamples").glob("*.json"))


def read(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    numbers = {key: np.array(value) for key, value in stored["instance"].items()}
    return stored, numbers


def value_of(moves, reward, policy, gamma):
    """V^pi of one environment."""
    chain = np.einsum("sa,sat->st", policy, moves)
    return np.linalg.solve(np.eye(len(chain)) - gamma * chain, (policy * reward).sum(axis=1))


def lemma1(x, settings):
    """V-bar - V_I, at the state where it is least."""
    gamma, reward, policy = x["gamma"], x["reward"], x["policy"]
    own = np.mean([value_of(P, reward, policy, gamma) for P in x["moves"]], axis=0)
    return (own - value_of(x["moves"].mean(axis=0), reward, policy, gamma)).min()


def theorem2(x, settings):
    """The least of bound - error over t, QAvg run as Section 4 prints it."""
    E, gamma, moves, reward = settings["local_steps"], x["gamma"], x["moves"], x["reward"]
    optimum = np.zeros_like(reward)
    for _ in range(2000):
        optimum = reward + gamma * moves.mean(axis=0) @ optimum.max(axis=1)
    q, least = np.repeat(x["initial"][None], len(moves), axis=0), np.inf
    for t in range(settings["iterations"] + 1):
        error = np.abs(q.mean(axis=0) - optimum).max()
        least = min(least, 16 * gamma * E / ((1 - gamma) ** 3 * (t + E)) - error)
        eta = 2 / ((1 - gamma) * (t + E))
        for k, P in enumerate(moves):
            q[k] = (1 - eta) * q[k] + eta * (reward + gamma * P @ q[k].max(axis=1))
        if (t + 1) % E == 0:
            q[:] = q.mean(axis=0)
    return least


def corollary1(x, settings):
    """||A|| - ||B|| of the first agent, whose update improves its own and the global objective."""
    gamma, reward, policy, starts = x["gamma"], x["reward"], x["policy"], x["starts"]
    rho, A = [], []
    for start, P in zip(starts, x["moves"], strict=True):
        value = value_of(P, reward, policy, gamma)
        A.append(reward + gamma * P @ value - value[:, None])
        chain = np.einsum("sa,sat->st", policy, P)
        rho.append(np.linalg.solve(np.eye(len(chain)) - gamma * chain.T, start))
    greedy = np.eye(reward.shape[1])[A[0].argmax(axis=1)]
    after = 0.9 * policy + 0.1 * greedy
    change = [
        start @ (value_of(P, reward, after, gamma) - value_of(P, reward, policy, gamma))
        for start, P in zip(starts, x["moves"], strict=True)
    ]
    assert change[0] > 0
    assert np.mean(change) > 0
    average = np.mean([r[:, None] * a for r, a in zip(rho, A, strict=True)], axis=0)
    return np.linalg.norm(A[0]) - np.linalg.norm(average / rho[0][:, None] - A[0])


def lemma410(x, settings):
    """The omega that Phi allows: minus <Phi - Phi*, h> over |Phi - Phi*|^2."""
    P, r, Phi, apart = x["moves"], x["rewards"], x["features"], x["features"] - x["optimum"]
    mu = np.linalg.matrix_power(P, 10_000)[0]
    away = np.eye(len(P)) - x["gamma"] * P
    theta = np.linalg.solve(Phi.T @ np.diag(mu) @ away @ Phi, Phi.T @ (mu * r))
    h = (mu * (r - away @ Phi @ theta))[:, None] * theta
    return -(apart * h).sum() / (apart**2).sum()


PLAIN = {
    "qavg_lemma1": lemma1,
    "qavg_theorem2": theorem2,
    "fedkl_corollary1": corollary1,
    "pfedrl_lemma410": lemma410,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_counterexample_fails_by_plain_numpy(path):
    stored, numbers = read(path)
    plain = PLAIN[stored["statement"]](numbers, stored["settings"])
    assert plain < -1e-3
    assert plain == pytest.approx(stored["value"], rel=1e-6)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_counterexample_is_what_its_seed_gives(path):
    stored, numbers = read(path)
    statement = load("theory", stored["statement"])(**stored["settings"])
    again = statement.instance(stored["seed"])
    assert again.keys() == numbers.keys()
    for key, value in numbers.items():
        np.testing.assert_allclose(again[key], value, atol=1e-9)
    assert statement.check([stored["seed"]])[stored["metric"]][0] == pytest.approx(stored["value"])


def test_every_plain_check_has_a_stored_counterexample():
    stored = {read(path)[0]["statement"] for path in FILES}
    assert stored == set(PLAIN)
