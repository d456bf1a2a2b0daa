"""Stored counterexamples: each file is what its seed gives, and fails by plain NumPy alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.registry import load
from pfedrl.pipeline.claim import Holds
from pfedrl.pipeline.project import Project
from pfedrl.theory.statement import APPLIES
from tests.tiny import ROOT

FOLDER = Path(__file__).with_name("counterexamples")
FILES = sorted(FOLDER.glob("*.json"))


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


def course(x, settings):
    """(eta_t, Q^k) for t = 0 to T, QAvg run as Section 4 prints it."""
    E, gamma, moves, reward = settings["local_steps"], x["gamma"], x["moves"], x["reward"]
    q = np.repeat(x["initial"][None], len(moves), axis=0)
    for t in range(settings["iterations"] + 1):
        eta = 2 / ((1 - gamma) * (t + E))
        yield eta, q.copy()
        for k, P in enumerate(moves):
            q[k] = (1 - eta) * q[k] + eta * (reward + gamma * P @ q[k].max(axis=1))
        if (t + 1) % E == 0:
            q[:] = q.mean(axis=0)


def imaginary_optimum(x):
    """Q_I*, by iterating the optimality equation of the average environment."""
    optimum = np.zeros_like(x["reward"])
    for _ in range(2000):
        optimum = x["reward"] + x["gamma"] * x["moves"].mean(axis=0) @ optimum.max(axis=1)
    return optimum


def theorem2(x, settings, less=0):
    """The least of bound - error over t."""
    E, gamma, optimum = settings["local_steps"], x["gamma"], imaginary_optimum(x)
    return min(
        16 * gamma * (E - less) / ((1 - gamma) ** 3 * (t + E))
        - np.abs(q.mean(axis=0) - optimum).max()
        for t, (_, q) in enumerate(course(x, settings))
    )


def theorem2_appendix(x, settings):
    """The same with E-1 for E, as the appendix's proof ends."""
    return theorem2(x, settings, less=1)


def lemma3(x, settings):
    """The least of right - left over t, over 1 + left."""
    gamma, optimum = x["gamma"], imaginary_optimum(x)
    least, right = np.inf, np.inf
    for eta, q in course(x, settings):
        mean = q.mean(axis=0)
        error = np.abs(mean - optimum).max()
        least = min(least, (right - error) / (1 + error))
        spread = np.mean([np.abs(table - mean).max() for table in q])
        right = (1 - (1 - gamma) * eta) * error + eta * gamma * spread
    return least


def lemma4(x, settings):
    """The least of bound - spread over t; what the lemma supposes holds."""
    E, gamma = settings["local_steps"], x["gamma"]
    steps = [eta for eta, _ in course(x, settings)]
    assert all(now <= 2 * later + 1e-12 for now, later in zip(steps, steps[E:], strict=False))
    assert (x["initial"] >= 0).all()
    assert (x["initial"] <= 1 / (1 - gamma)).all()
    return min(
        4 * eta * (E - 1) / (1 - gamma)
        - np.mean([np.abs(table - q.mean(axis=0)).max() for table in q])
        for eta, q in course(x, settings)
    )


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


def system(x, features):
    """mu, I - gamma P and Phi' D (I - gamma P) Phi."""
    mu = np.linalg.matrix_power(x["moves"], 10_000)[0]
    away = np.eye(len(mu)) - x["gamma"] * x["moves"]
    return mu, away, features.T @ np.diag(mu) @ away @ features


def suited(x, features):
    """y(Phi), at which the expected g is zero."""
    mu, _, matrix = system(x, features)
    return np.linalg.solve(matrix, features.T @ (mu * x["rewards"]))


def features_omega(x, features):
    """The omega that Phi allows: minus <Phi - Phi*, h> over |Phi - Phi*|^2."""
    mu, away, _ = system(x, features)
    theta, apart = suited(x, features), features - x["optimum"]
    h = (mu * (x["rewards"] - away @ features @ theta))[:, None] * theta
    return -(apart * h).sum() / (apart**2).sum()


def lemma410_drawn(x, settings):
    return features_omega(x, x["features"])


def lemma410_features(x, settings):
    """The rotation of an optimum is as good an optimum, and another one."""
    first, second = (x[key] @ suited(x, x[key]) for key in ("optimum", "rotated"))
    value = np.linalg.solve(np.eye(len(first)) - x["gamma"] * x["moves"], x["rewards"])
    np.testing.assert_allclose(first, value, atol=1e-6)
    np.testing.assert_allclose(second, value, atol=1e-6)
    assert np.abs(x["optimum"] - x["rotated"]).max() > 0.01
    return features_omega(x, x["rotated"]) / x["omega"] - 1


def lemma410_weights(x, settings):
    matrix = system(x, x["near_rank_one"])[2]
    np.testing.assert_allclose(np.linalg.norm(x["near_rank_one"], axis=1), 1.0)
    return np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] / x["omega"] - 1


def lipschitz(x, update, constant):
    """L less |difference of updates| / (|theta_1 - theta_2| + |Phi_1 - Phi_2|)."""
    found = []
    for theta, (now, following) in zip(x["theta"], x["rows"], strict=True):
        assert np.linalg.norm(theta) <= x["norm"] + 1e-12
        np.testing.assert_allclose([now @ now, following @ following], 1.0)
        found.append(update(x["reward"] + x["gamma"] * following @ theta - now @ theta, theta, now))
    apart = np.linalg.norm(x["theta"][0] - x["theta"][1])
    apart += np.linalg.norm(x["rows"][0] - x["rows"][1])
    return constant - np.linalg.norm(found[0] - found[1]) / apart


def lemma46(x, settings):
    constant = max(1 + x["gamma"], (2 + 2 * x["gamma"]) * x["norm"])
    return lipschitz(x, lambda error, theta, row: error * row, constant)


def lemma47(x, settings):
    constant = max((1 + x["gamma"]) * x["norm"] ** 2, (2 + 2 * x["gamma"]) * x["norm"])
    return lipschitz(x, lambda error, theta, row: error * theta, constant)


def lemma48(x, settings):
    weights = []
    for side in ("first", "second"):
        y = suited(x, x[side])
        weights.append(y * min(1.0, x["norm"] / np.linalg.norm(y)))
    apart = np.linalg.norm(x["first"] - x["second"])
    return x["lipschitz"] - np.linalg.norm(weights[0] - weights[1]) / apart


def theorem413(x, settings):
    """The bound (16) less M, PFedTD-Rep run with random numbers of its own for one agent."""
    gamma, B, K, T = x["gamma"], 20.0, 5, settings["iterations"]
    alpha, beta, power = settings["alpha"], settings["beta"], settings["beta_power"]
    L = max((1 + gamma) * B**2, (2 + 2 * gamma) * B)
    assert alpha <= 1 / (2 * L * np.sqrt(2 * (1 + L**2)))
    P, r, phi, theta = x["moves"], x["rewards"], x["features"].copy(), np.zeros(3)
    rng, state, apart = np.random.default_rng(0), 0, []
    for t in range(T):
        before, seen = phi.copy(), []
        for _ in range(K):
            following = rng.choice(len(P), p=P[state])
            error = r[state] + gamma * phi[following] @ theta - phi[state] @ theta
            theta = theta + alpha / (t + 2) ** (5 / 6) * error * phi[state]
            seen.append((state, following))
            state = following
        for now, later in seen:
            error = r[now] + gamma * before[later] @ theta - before[now] @ theta
            phi[now] += beta / (t + 2) ** power * error * theta
        phi /= np.linalg.norm(phi, axis=1, keepdims=True)
        ratio = (beta / (t + 1) ** power) / (alpha / (t + 2) ** (5 / 6))
        away = theta - suited(x, before)
        apart.append((((before - x["optimum"]) ** 2).sum(), away @ away, ratio))
    features, weights, ratio = apart[0]
    later = 4 * alpha * beta * (K * L * B) ** 2 + 2 * (alpha * K * B) ** 2 * (3 + 2 * L**2)
    later += 4 * L**2 * alpha * beta * (features + weights)
    bound = (features + ratio * weights) / (T + 2) ** 2 + later / (T + 2) ** (2 / 3)
    return bound - apart[-1][0] - apart[-1][2] * apart[-1][1]


PLAIN = {
    ("qavg_lemma1", "margin"): lemma1,
    ("qavg_lemma3", "margin"): lemma3,
    ("qavg_lemma4", "margin"): lemma4,
    ("qavg_theorem2", "margin"): theorem2,
    ("qavg_theorem2", "appendix_margin"): theorem2_appendix,
    ("fedkl_corollary1", "margin"): corollary1,
    ("pfedrl_lemma46", "margin"): lemma46,
    ("pfedrl_lemma47", "margin"): lemma47,
    ("pfedrl_lemma48", "margin"): lemma48,
    ("pfedrl_lemma410", "drawn_features"): lemma410_drawn,
    ("pfedrl_lemma410", "features_margin"): lemma410_features,
    ("pfedrl_lemma410", "weights_margin"): lemma410_weights,
    ("pfedrl_theorem413", "bound_margin"): theorem413,
}
SAMPLED = {"pfedrl_theorem413"}  # its plain check draws other random numbers


def test_every_stored_counterexample_has_a_plain_check_and_every_check_a_counterexample():
    stored = [read(path)[0] for path in FILES]
    assert {(one["statement"], one["metric"]) for one in stored} == set(PLAIN)


def test_every_contradicted_statement_has_a_counterexample_of_its_own():
    """The claim that a file names is of the same statement, metric and settings."""
    project = Project(ROOT)
    page, verdicts = project.paper("theory"), project.scale("record").verdicts_of("theory")
    ledger = json.loads((ROOT / verdicts).read_text("utf-8"))
    contradicted = {one["id"] for one in ledger["claims"] if one["badge"] == "contradicted"}
    claims = {claim.id: claim.test for claim in page.claims if isinstance(claim.test, Holds)}
    stored = [read(path)[0] for path in FILES]
    assert sorted(one["claim"] for one in stored if "claim" in one) == sorted(
        contradicted & claims.keys()
    )
    for one in stored:
        if "claim" not in one:
            continue
        test = claims[one["claim"]]
        given = dict(page.experiments[test.experiment].variants[test.variant])
        shorter = {"iterations", "agents"}  # a counterexample may be cheaper than the runs
        kept = {key: value for key, value in one["settings"].items() if key not in shorter}
        assert (given.pop("algorithm"), test.metric) == (one["statement"], one["metric"])
        assert {key: value for key, value in given.items() if key not in shorter} == kept


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_counterexample_fails_by_plain_numpy(path):
    stored, numbers = read(path)
    plain = PLAIN[stored["statement"], stored["metric"]](numbers, stored["settings"])
    assert plain < -1e-3
    rounding = 1e-3 if stored["statement"] in SAMPLED else 1e-6
    assert plain == pytest.approx(stored["value"], rel=rounding)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_counterexample_is_what_its_seed_gives_and_meets_the_premises(path):
    stored, numbers = read(path)
    statement = load("theory", stored["statement"])(**stored["settings"])
    again = statement.instance(stored["seed"])
    assert again.keys() == numbers.keys()
    for key, value in numbers.items():
        np.testing.assert_allclose(again[key], value, atol=1e-9)
    metrics = statement.check([stored["seed"]])
    assert metrics[stored["metric"]][0] == pytest.approx(stored["value"])
    assert metrics.get(APPLIES, np.ones(1))[0] == 1.0


def near_rank_one(features, apart):
    rows = features[0] + apart * (features - features[0])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_no_constant_serves_lemma_48():
    """The stored pair again, ever nearer to rank one: the ratio grows as one over the distance."""
    x = read(FOLDER / "pfedrl_lemma48.json")[1]
    ratios = []
    for apart in (1e-3, 1e-4, 1e-5):
        pair = {side: near_rank_one(x["features"], sign * apart)
                for side, sign in (("first", 1), ("second", -1))}  # fmt: skip
        assert all(np.linalg.matrix_rank(features) == 3 for features in pair.values())
        ratios.append(x["lipschitz"] - lemma48(x | pair, {}))
    assert ratios[1] == pytest.approx(10 * ratios[0], rel=0.05)
    assert ratios[2] == pytest.approx(10 * ratios[1], rel=0.05)


def test_no_omega_serves_the_weights_half_of_lemma_410():
    """The omega that Phi allows falls with the square of its distance from rank one."""
    x = read(FOLDER / "pfedrl_lemma410_weights.json")[1]
    allowed = [
        x["omega"] * (1 + lemma410_weights(x | {"near_rank_one": features}, {}))
        for features in (near_rank_one(x["features"], apart) for apart in (1e-2, 1e-3, 1e-4))
    ]
    assert allowed[1] == pytest.approx(allowed[0] / 100, rel=0.1)
    assert allowed[2] == pytest.approx(allowed[1] / 100, rel=0.1)


def test_no_omega_serves_the_features_half_of_lemma_410():
    """At the rotated optimum the update is zero, up to how exactly the optimum is known."""
    x = read(FOLDER / "pfedrl_lemma410_features.json")[1]
    assert abs(features_omega(x, x["rotated"])) < 1e-9


def test_lemmas_46_and_47_hold_there_with_room_for_the_reward():
    """What fails is the proofs' constant: with 1, the largest reward, in it there is room."""
    for name, plain in (("pfedrl_lemma46", lemma46), ("pfedrl_lemma47", lemma47)):
        x = read(FOLDER / f"{name}.json")[1]
        assert 0 <= x["reward"] <= 1
        assert plain(x, {}) + 1 > 0


@pytest.mark.parametrize("rounds", [200, 5000])
@pytest.mark.parametrize("name", ["pfedrl_theorem413", "pfedrl_theorem413_as_proof"])
def test_every_smaller_step_breaks_theorem_413_as_well(name, rounds):
    """Whatever L (with its L_y) and omega are: M is above (16) for all alpha_0 and beta_0 up to
    the stored ones, for every sequence of observations and number of agents, and whichever optimum
    is meant.

    M less (16) is bounded from below in two parts, that of the features and that of the weights,
    which alone have beta_0/alpha_0 in them.
    """
    stored, x = read(FOLDER / f"{name}.json")
    alpha, beta, power = (stored["settings"][key] for key in ("alpha", "beta", "beta_power"))
    gamma, P, r, phi = x["gamma"], x["moves"], x["rewards"], x["features"]
    B, K, T, L, delta = 20.0, 5, rounds, 720.0, 1e-6
    assert r.min() >= 0
    assert r.max() <= 1
    elapsed = np.arange(T + 2) + 2.0
    # how far theta and Phi can get from 0 and Phi_0; to make rows unit again at most doubles it
    largest = 1 + (1 + gamma) * B  # TD error
    theta = alpha * K * largest * (elapsed ** (-5 / 6)).sum()
    moved = 2 * beta * K * largest * theta * (elapsed**-power).sum()
    # an optimum has Phi theta = V, or theta = 0 and Phi' D r = 0: how near Phi_0 can be to any
    mu = np.linalg.matrix_power(P, 10_000)[0]
    value = np.linalg.solve(np.eye(len(r)) - gamma * P, r)
    least = np.linalg.svd(np.column_stack([phi, value]), compute_uv=False)[-1]
    pull = np.linalg.norm(phi.T @ (mu * r))
    nearest = min(least, pull / np.linalg.norm(mu * r))
    # (16) without the weights' share of its first term; alpha_0 L^2 is at most 1/sqrt(8)
    first = 4.0 * len(phi)  # |Phi_0 - Phi*|^2 of unit rows at the most
    suits = np.linalg.norm(suited(x, phi))
    energy = K**2 * (3 * delta**2 * (1 + B**2))
    noise = 4 * alpha * beta * energy + np.sqrt(2) * beta * (K * B) ** 2
    noise += 6 * (alpha * K) ** 2 * (B**2 + delta**2) + (K * B / L) ** 2 / 2
    noise += 8 * alpha * beta * delta**2
    carried = (144 * (T / 2 * K * delta) ** 2 + 4) * beta / np.sqrt(8)  # T >= 2 tau, N >= 1
    noise += carried * (first + (suits + theta) ** 2)
    bound = first / (T + 2) ** 2 + noise / (T + 2) ** (2 / 3)
    assert moved < nearest
    assert (nearest - moved) ** 2 > 2 * bound
    # the weights: theta stays near 0 and y(Phi) away from it, while their first error is divided
    away = (pull - moved * np.linalg.norm(mu * r)) / (1 + gamma) - theta  # |y(Phi) - theta|
    # beta_T/alpha_{T+1} over beta_{-1}/alpha_0
    ratio = (T + 3) ** (5 / 6) / (T + 2) ** power / 2 ** (5 / 6)
    assert ratio * away**2 > (suits + theta) ** 2 / (T + 2) ** 2
    # T is at least twice the mixing time of delta
    apart = np.abs(np.linalg.matrix_power(P, T // 2 - 1) - mu).sum(axis=1).max()
    assert apart * largest * B < delta
