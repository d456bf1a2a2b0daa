"""PFedQ-Rep, FedQ-K, FedAsynQ-ImAvg and independent Q against plain transcriptions."""

import numpy as np
import pytest

from pfedrl.algorithms.td.fed_asynq_imavg import FedAsynQ
from pfedrl.algorithms.td.fedq_k import FedQ
from pfedrl.algorithms.td.independent_q import IndependentQ
from pfedrl.algorithms.td.pfedq_rep import PFedQRep
from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.algorithms.td.sampling import Uniforms, cumulative
from pfedrl.envs.tabular.cliff_walking import CliffWalking
from pfedrl.envs.tabular.windy_cliff import WindyCliff

FAMILIES = [CliffWalking(gamma=0.9), WindyCliff(gamma=0.95, agents=3)]
K, ROUNDS, SEED = 6, 8, 4


def trajectory(task, agent):
    """Rows (s, a), rewards and next states of one agent, sampled here on its own numbers."""
    numbers, restart = Uniforms([SEED], agent + 1), cumulative(task.restarts())[:-1]
    moves = task.training[agent, :, 0].reshape(task.successors.shape)

    def chosen(sums, uniform):
        return int(np.searchsorted(sums, uniform, side="right"))

    state = chosen(restart, numbers.take(1)[0, agent, 0])
    terminal, seen = task.terminal_states(), []
    for _ in range(K * ROUNDS):
        acts, happens, begins = numbers.take(3)[0, agent]
        row = state * task.actions + int(acts * task.actions)
        reached = int(task.successors[row, chosen(cumulative(moves[row])[:-1], happens)])
        seen.append((row, float(task.reward[row, 0]), reached, bool(terminal[reached])))
        state = chosen(restart, begins) if terminal[reached] else reached
    return seen


def run(algorithm, family):
    learner = algorithm.learner(family.task(family.draw([SEED])), [SEED])
    exchange = algorithm.exchange(learner.task, [SEED])
    for number in range(ROUNDS):
        learner.advance(1)
        exchange(learner.parts, number)
    return learner


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.label)
@pytest.mark.parametrize("kind", [IndependentQ, FedQ, FedAsynQ])
def test_tables_agree_with_plain_q_learning_and_averages(kind, family):
    eta = 0.3
    learner = run(kind(training_rounds=ROUNDS, local_steps=K, eta=eta), family)
    task = learner.task
    seen = [trajectory(task, i) for i in range(3)]
    tables = np.zeros((3, task.states * task.actions))
    for t in range(ROUNDS):
        visits = np.zeros_like(tables)
        for i in range(3):
            for row, reward, reached, ended in seen[i][t * K : (t + 1) * K]:
                ahead = tables[i].reshape(task.states, -1)[reached].max()
                target = reward + (0.0 if ended else task.gamma * ahead)
                tables[i, row] += eta * (target - tables[i, row])
                visits[i, row] += 1
        if kind is FedQ:
            tables[:] = tables.mean(axis=0)
        if kind is FedAsynQ:
            weights = (1 - eta) ** -visits
            tables[:] = (weights * tables).sum(axis=0) / weights.sum(axis=0)
    np.testing.assert_allclose(learner.tables[0], tables, atol=1e-10)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.label)
def test_pfedq_rep_agrees_with_algorithm_3(family):
    B, d = 5.0, 3
    algorithm = PFedQRep(
        training_rounds=ROUNDS, local_steps=K, alpha=0.4, alpha_power=5 / 6, beta=0.05,
        beta_power=1.0, bound=B, dimension=d,
    )  # fmt: skip
    learner = run(algorithm, family)
    task = learner.task
    seen = [trajectory(task, i) for i in range(3)]
    Phi = unit_rows([SEED], task.states * task.actions, d)[0]
    theta = [np.zeros(d) for _ in range(3)]

    def error(weights, row, reward, reached, ended):
        ahead = (Phi @ weights).reshape(task.states, -1)[reached].max()
        return reward + (0.0 if ended else task.gamma * ahead) - Phi[row] @ weights

    for t in range(ROUNDS):
        local = []
        for i in range(3):
            observed = seen[i][t * K : (t + 1) * K]
            for X in observed:
                theta[i] = theta[i] + 0.4 / (t + 2) ** (5 / 6) * error(theta[i], *X) * Phi[X[0]]
            norm = np.linalg.norm(theta[i])
            theta[i] = theta[i] * min(1.0, B / norm) if norm > 0 else theta[i]
            half = Phi.copy()
            for X in observed:
                half[X[0]] += 0.05 / (t + 2) * error(theta[i], *X) * theta[i]
            local.append(half / np.linalg.norm(half, axis=1, keepdims=True))
        Phi = np.mean(local, axis=0)
    np.testing.assert_allclose(learner.features[0, 0], Phi, atol=1e-10)
    np.testing.assert_allclose(learner.weights[0], theta, atol=1e-10)


def test_a_long_run_of_q_learning_finds_the_shortest_path():
    family = CliffWalking(gamma=0.9, agents=1)
    algorithm = IndependentQ(training_rounds=4000, local_steps=10, eta=0.9)
    learner = algorithm.learner(family.task(family.draw([0])), [0])
    learner.advance(4000)
    (measured,) = learner.measure()
    assert measured.values[0, 0] == pytest.approx(-(1 - 0.9**13) / 0.1)
