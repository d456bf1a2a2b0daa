"""FedKL's statements: the definitions by plain sums, Algorithm 1's step by linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from pfedrl.theory.fedkl import Quantities, total_variation
from pfedrl.theory.fedkl_corollary1 import Corollary1
from pfedrl.theory.fedkl_corollary2 import Corollary2
from pfedrl.theory.fedkl_definition1 import Definition1
from pfedrl.theory.fedkl_theorem1 import Theorem1
from pfedrl.theory.fedkl_theorem2 import Theorem2, best_responses
from pfedrl.theory.fedkl_theorem3 import Theorem3

STATEMENTS = [
    Definition1(),
    Theorem1(),
    Corollary1(),
    Corollary2(),
    Theorem2(gamma=0.05),
    Theorem3(gamma=0.05, iterations=20),
]


def rollout_value(moves, reward, policy, gamma):
    """V^pi by iterating the Bellman equation."""
    value = np.zeros(len(reward))
    for _ in range(1500):
        value = (policy * (reward + gamma * moves @ value)).sum(axis=1)
    return value


def test_definition_1_agrees_with_plain_matrices():
    statement = Definition1(agents=3)
    found = statement.instance(8)
    moves, reward, policy = (np.array(found[key]) for key in ("moves", "reward", "policy"))
    D, A = [], []
    for start, P in zip(found["starts"], moves, strict=True):
        value = rollout_value(P, reward, policy, 0.9)
        A.append(reward + 0.9 * P @ value - value[:, None])
        rho, at = np.zeros(3), np.array(start)
        for _ in range(1500):
            rho, at = rho + at, 0.9 * at @ np.einsum("sa,sat->st", policy, P)
        D.append(np.diag(rho))
    levels = [
        np.linalg.norm(np.linalg.inv(D[n]) @ sum(D[k] @ A[k] / 3 for k in range(3)) - A[n])
        for n in range(3)
    ]
    tasks = statement.tasks([8])
    np.testing.assert_allclose(Quantities.at(tasks, tasks.policy).level()[0], levels, rtol=1e-8)
    trace = np.trace(D[1] @ A[1] @ np.array(found["proposed"]).T)  # (16)
    got = Quantities.at(tasks, tasks.policy).policy_advantage(tasks.proposed)[0, 1]
    assert got == pytest.approx(trace)


def linear_program(policy, now, agent):
    """max h_k over policies: variables pi'(s,a), D_TV(s) through |pi'-pi|, and D_TV^max."""
    states, actions = policy.shape[1:]
    size = states * actions
    rho, advantage = now.visitation[0, agent], now.advantage[0, agent]
    price = (now.alpha() + now.beta())[0, agent]
    # x = (pi', u >= |pi' - pi|, cap)
    cost = np.concatenate([
        -(rho[:, None] * advantage).reshape(-1),
        np.repeat(rho, actions) * price / 2,
        [now.delta()[0, agent]],
    ])  # fmt: skip
    eye, zero = np.eye(size), np.zeros((size, 1))
    per_state = np.kron(np.eye(states), np.ones(actions))
    above = np.hstack([eye, -eye, zero])
    below = np.hstack([-eye, -eye, zero])
    capped = np.hstack([np.zeros((states, size)), per_state / 2, -np.ones((states, 1))])
    flat = policy[0].reshape(-1)
    solved = linprog(
        cost,
        A_ub=np.vstack([above, below, capped]),
        b_ub=np.concatenate([flat, -flat, np.zeros(states)]),
        A_eq=np.hstack([per_state, np.zeros((states, size + 1))]),
        b_eq=np.ones(states),
    )
    return -solved.fun


def objective(policy, proposed, now, agent):
    """h_k(pi'; pi) (22)."""
    apart = total_variation(proposed, policy[0])
    gained = (now.visitation[0, agent][:, None] * proposed * now.advantage[0, agent]).sum()
    expected = (now.visitation[0, agent] * apart).sum()
    price = (now.alpha() + now.beta())[0, agent]
    return gained - price * expected - now.delta()[0, agent] * apart.max()


@pytest.mark.parametrize("seed", range(12))
def test_best_responses_solve_the_linear_program(seed):
    statement = Theorem2(gamma=0.03, states=3, actions=3)
    tasks = statement.tasks([seed])
    now = Quantities.at(tasks, tasks.policy)
    chosen = best_responses(tasks.policy, now)[0]
    np.testing.assert_allclose(chosen.sum(axis=-1), 1.0)
    assert (chosen >= -1e-12).all()
    for agent in range(2):
        got = objective(tasks.policy, chosen[agent], now, agent)
        assert got == pytest.approx(linear_program(tasks.policy, now, agent), abs=1e-8)


def test_some_of_those_programs_have_something_to_gain():
    statement = Theorem2(gamma=0.03, states=3, actions=3)
    assert (statement.check(range(12))["gained"] > 1e-3).any()


def test_algorithm_1_never_moves_at_the_papers_discount():
    metrics = Theorem2(gamma=0.9, iterations=3).check(range(500))
    np.testing.assert_array_equal(metrics["moved"], 0.0)


def test_corollary_1_fails_and_its_counterexample_survives_a_plain_recheck():
    statement = Corollary1()
    margin = statement.check(range(300))["margin"]
    seed = int(np.argmin(margin))
    assert margin[seed] < -0.1
    found = statement.instance(seed)
    moves, reward, policy = (np.array(found[key]) for key in ("moves", "reward", "policy"))
    starts = np.array(found["starts"])
    value = rollout_value(moves[0], reward, policy, 0.9)
    greedy = np.eye(2)[(reward + 0.9 * moves[0] @ value).argmax(axis=1)]
    after = 0.9 * policy + 0.1 * greedy

    def returns(of):
        return [start @ rollout_value(P, reward, of, 0.9)
                for start, P in zip(starts, moves, strict=True)]  # fmt: skip

    change = np.array(returns(after)) - returns(policy)
    assert change[0] > 0
    assert change.mean() > 0
    tasks = statement.tasks([seed])
    now = Quantities.at(tasks, tasks.policy)
    assert now.level()[0, 0] >= now.potential()[0, 0]


def test_corollary_1_applies_where_its_condition_fails_and_forbids_nothing_elsewhere():
    statement = Corollary1()
    metrics, tasks = statement.check(range(300)), statement.tasks(range(300))
    now = Quantities.at(tasks, tasks.policy)
    fails = (now.level() >= now.potential())[:, 0]
    np.testing.assert_array_equal(metrics["applies"], fails)
    assert 0 < fails.sum() < 60
    assert (metrics["margin"][~fails] >= 0).all()


def test_policies_of_algorithm_1_move_and_come_to_rest():
    metrics = Theorem3(gamma=0.05, iterations=100).check(range(100))
    assert (metrics["moved"] > 0.1).any()
    assert (metrics["margin"] > 0).all()
    assert (metrics["resting_from"] < 50).all()
