"""QAvg's statements: closed forms, independent re-checks, determinism."""

import numpy as np
import pytest

from pfedrl.theory.instances import (
    Instances,
    deterministic_policies,
    draw,
    gradients,
    occupancies,
    project,
    values,
)
from pfedrl.theory.qavg_lemma1 import Lemma1
from pfedrl.theory.qavg_lemma2 import Lemma2, kappa_1
from pfedrl.theory.qavg_lemma3 import Lemma3
from pfedrl.theory.qavg_lemma4 import Lemma4
from pfedrl.theory.qavg_lemma5 import Lemma5
from pfedrl.theory.qavg_lemma6 import Lemma6
from pfedrl.theory.qavg_theorem1 import Theorem1, figure7
from pfedrl.theory.qavg_theorem2 import Theorem2
from pfedrl.theory.qavg_theorem3 import Theorem3
from pfedrl.theory.qavg_theorem4 import Theorem4, average
from pfedrl.theory.qavg_theorem5 import Theorem5
from pfedrl.theory.statement import Statement

STATEMENTS = [
    Lemma1(),
    Lemma2(),
    Theorem1(grid=5, zooms=2),
    Theorem2(local_steps=4, iterations=20),
    Theorem3(kappa=0.8, iterations=64, random_policies=2, ascent_steps=5),
    Lemma3(local_steps=4, iterations=20),
    Lemma4(local_steps=4, iterations=20),
    Theorem4(),
    Theorem5(random_policies=2),
    Lemma5(iterations=32, random_policies=2),
    Lemma6(iterations=32),
]


def plain_value(moves, reward, policy, gamma):
    """V^pi of one environment by iterating the Bellman equation, no linear algebra shared."""
    value = np.zeros(len(reward))
    for _ in range(2000):
        value = np.array([
            sum(
                policy[s][a] * (reward[s][a] + gamma * np.dot(moves[s][a], value))
                for a in range(len(reward[s]))
            )
            for s in range(len(reward))
        ])  # fmt: skip
    return value


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.label)
def test_an_instance_is_plain_numbers_and_always_the_same(statement: Statement):
    import json

    assert json.dumps(statement.instance(4)) == json.dumps(statement.instance(4))


def test_value_of_one_state_is_a_geometric_series():
    moves, policy = np.ones((1, 2, 1, 2, 1)), np.array([[[0.25, 0.75]]])
    got = values(policy, moves, np.array([[[1.0, 3.0]]]), gamma=0.9)
    np.testing.assert_allclose(got, np.full((1, 2, 1), 2.5 / (1 - 0.9)))


def test_values_agree_with_iterating_the_bellman_equation():
    tasks = draw([7], states=4, actions=3, environments=2, gamma=0.9)
    got = values(tasks.policy, tasks.moves, tasks.reward, 0.9)
    for i in range(2):
        want = plain_value(tasks.moves[0, i], tasks.reward[0], tasks.policy[0], 0.9)
        np.testing.assert_allclose(got[0, i], want, rtol=1e-10)


def test_gradients_agree_with_finite_differences():
    tasks = draw([3], states=3, actions=2, environments=2, gamma=0.8)
    start = np.array([0.2, 0.3, 0.5])
    got = gradients(tasks.policy, tasks, start)[0]
    step = 1e-6
    for s in range(3):
        for a in range(2):
            up, down = tasks.policy.copy(), tasks.policy.copy()
            up[0, s, a] += step
            down[0, s, a] -= step
            high, low = (values(p, tasks.moves, tasks.reward, 0.8)[0] @ start for p in (up, down))
            np.testing.assert_allclose(got[:, s, a], (high - low) / (2 * step), rtol=1e-6)


def test_occupancies_are_distributions():
    tasks = draw(range(5), states=4, actions=2, environments=3, gamma=0.95)
    occupancy = occupancies(tasks.policy, tasks.moves, np.full(4, 0.25), 0.95)
    assert (occupancy > 0).all()
    np.testing.assert_allclose(occupancy.sum(axis=-1), 1.0)


def test_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 4))
    got = project(points)
    assert (got >= 0).all()
    np.testing.assert_allclose(got.sum(axis=-1), 1.0)
    others = rng.dirichlet(np.ones(4), size=500)
    for point, nearest in zip(points, got, strict=True):
        distances = np.linalg.norm(others - point, axis=1)
        assert np.linalg.norm(nearest - point) <= distances.min() + 1e-12


def test_lemma_1_fails_and_its_smallest_counterexample_survives_a_plain_recheck():
    metrics = Lemma1().check(range(200))
    failing = np.nonzero(metrics["margin"] < -1e-3)[0]
    seed = int(failing[np.argmin(metrics["size"][failing])])
    found = Lemma1().instance(seed)
    moves = np.array(found["moves"])
    assert moves.shape[1] == 2, "two states are enough"
    own = [plain_value(m, found["reward"], found["policy"], found["gamma"]) for m in moves]
    imagined = plain_value(moves.mean(axis=0), found["reward"], found["policy"], found["gamma"])
    difference = np.mean(own, axis=0) - imagined
    np.testing.assert_allclose(difference.min(), metrics["margin"][seed], rtol=1e-7)
    assert difference.min() < -1e-3


def test_lemma_1_fails_in_more_than_half_of_the_draws():
    share = (Lemma1().check(range(2000))["margin"] < 0).mean()
    assert 0.55 < share < 0.65


def test_kappa_1_is_reached_at_an_action_and_never_exceeded_by_a_policy():
    tasks = draw(range(40), states=3, actions=3, environments=3, gamma=0.9)
    exact = kappa_1(tasks.moves)
    rng = np.random.default_rng(1)
    for _ in range(50):
        policy = rng.dirichlet(np.ones(3), size=(40, 3))
        mixed = np.einsum("xsa,xisat->xist", policy, tasks.moves)
        apart = np.abs(mixed - mixed.mean(axis=1, keepdims=True)).sum(axis=(1, 3)).max(axis=1)
        assert (apart <= exact + 1e-12).all()
    reached = np.zeros(40)
    for policy in deterministic_policies(3, 3):
        mixed = np.einsum("sa,xisat->xist", policy, tasks.moves)
        apart = np.abs(mixed - mixed.mean(axis=1, keepdims=True)).sum(axis=(1, 3)).max(axis=1)
        reached = np.maximum(reached, apart)
    np.testing.assert_allclose(reached, exact)


def test_lemma_2_is_an_equality_of_zeros_for_equal_environments():
    tasks = draw([1], states=3, actions=2, environments=1, gamma=0.9)
    twins = np.repeat(tasks.moves, 2, axis=1)
    assert kappa_1(twins) == 0
    same = Instances(twins, tasks.reward, tasks.policy, 0.9)
    np.testing.assert_allclose(Lemma2().difference(same, tasks.policy), 0.0, atol=1e-12)


def test_theorem_1_on_the_papers_figure_7():
    """From the first state q* = 1 (never pay for a1 there); from the second q~ = 0."""
    statement, tasks = Theorem1(), figure7()
    np.testing.assert_array_equal(statement.best(tasks, start=0), [[0.0, 1.0]])
    np.testing.assert_array_equal(statement.best(tasks, start=1), [[0.0, 0.0]])
    # pi* alternates between the states in environment 1: V(s0) = 1000/(1-.81), or less by paying 1
    lost = 0.5 * 0.9 / (1 - 0.81)
    np.testing.assert_allclose(statement.gain(tasks), [lost])


def test_theorem_1_gain_survives_a_plain_recheck():
    statement = Theorem1()
    gain = statement.check(range(100))["gain"]
    seed = int(np.argmax(gain))
    assert gain[seed] > 1e-3
    found, tasks = statement.instance(seed), statement.tasks([seed])
    objectives = []
    for start in (0, 1):
        p, q = statement.best(tasks, start)[0]
        policy = [[p, 1 - p], [q, 1 - q]]
        own = [plain_value(m, found["reward"], policy, 0.9) for m in np.array(found["moves"])]
        objectives.append(np.mean(own, axis=0))
    first, second = objectives
    assert second[0] < first[0] - 1e-3
    assert second[1] > first[1] + 1e-3


def test_theorem_2_errors_agree_with_a_plain_transcription():
    statement = Theorem2(local_steps=3, iterations=7)
    found = statement.instance(2)
    moves, reward = np.array(found["moves"]), np.array(found["reward"])
    optimum = np.zeros_like(reward)
    for _ in range(1000):
        optimum = reward + 0.9 * moves.mean(axis=0) @ optimum.max(axis=1)
    q = np.repeat(np.array(found["initial"])[None], len(moves), axis=0)
    plain = []
    for t in range(8):
        plain.append(np.abs(q.mean(axis=0) - optimum).max())
        eta = 2 / ((1 - 0.9) * (t + 3))
        q = np.stack([
            (1 - eta) * table + eta * (reward + 0.9 * move @ table.max(axis=1))
            for table, move in zip(q, moves, strict=True)
        ])  # fmt: skip
        if (t + 1) % 3 == 0:
            q[:] = q.mean(axis=0)
    errors = [moment.error[0] for moment in statement.course([2])]
    np.testing.assert_allclose(errors, plain, rtol=1e-9)


def test_theorem_2_fails_at_e_1_where_its_first_steps_are_20():
    metrics = Theorem2(local_steps=1, iterations=200).check(range(32))
    assert (metrics["margin"] < 0).all()
    assert (metrics["tightness"] > 100).all()


def test_theorem_3_kappa_2_is_zero_without_noise_and_grows_with_it():
    levels = [Theorem3(kappa=k, iterations=16) for k in (0.0, 0.2, 0.8)]
    none, small, large = (
        s.kappa_2(s.dense(s.task(range(20)), range(20)), range(20)) for s in levels
    )
    np.testing.assert_allclose(none, 0.0, atol=1e-12)
    assert (large > small).all()
    assert (small > 0).all()


def test_theorem_3_best_is_the_optimum_when_all_environments_are_one():
    statement = Theorem3(kappa=0.0)
    task = statement.task(range(10))
    from pfedrl.algorithms.tabular import kernels

    tables = kernels.optimal_tables(
        task.reward, task.training[:1], task.successors, task.actions, task.gamma, 1e-12
    )[0]
    optimum = tables.reshape(3, 2, 10).max(axis=1).mean(axis=0)
    np.testing.assert_allclose(statement.best(statement.dense(task, range(10)))[1], optimum)


def test_lemma_3_and_4_fail_with_steps_above_one_and_hold_with_steps_below():
    """2/((1-gamma) E) is 5 at E = 4 and 0.6 at E = 32."""
    for statement in (Lemma3, Lemma4):
        assert (statement(local_steps=4, iterations=64).check(range(32))["margin"] < -0.1).any()
        assert (statement(local_steps=32, iterations=64).check(range(32))["margin"] > 0).all()


def test_theorem_4_contracts_by_gamma_exactly_when_one_table_is_the_other_and_a_constant():
    tasks = draw(range(5), states=3, actions=2, environments=2, gamma=0.9)
    table = np.random.default_rng(0).normal(size=(5, 3, 2))
    np.testing.assert_allclose(average(table + 2.0, tasks) - average(table, tasks), 0.9 * 2.0)
    assert (Theorem4().check(range(200))["margin"] >= 0).all()


def test_the_statements_about_pavg_hold_where_they_were_tried():
    for statement in (Theorem5(), Lemma5(iterations=64), Lemma6(iterations=64)):
        metrics = statement.check(range(20))
        assert (metrics["margin"] > 0).all()
        assert (metrics["tightness"] < 1).all()


def test_pavg_agents_are_apart_between_exchanges_and_together_after_one():
    statement = Lemma6(local_steps=4, iterations=8)
    spreads = [m.distances().max() for m in statement.course(statement.task([0]), [0], 1)]
    assert [spread > 1e-12 for spread in spreads] == [False, True, True, True] * 2 + [False]


def test_the_gap_of_theorem_5_is_zero_at_the_best_policy():
    statement = Theorem5()
    tasks = statement.dense(statement.task(range(5)), range(5))
    best, highest = statement.best(tasks)
    np.testing.assert_allclose(statement.objective(tasks, best), highest)
    assert (statement.objective(tasks, tasks.policy) < highest).all()
