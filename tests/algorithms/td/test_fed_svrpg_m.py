"""FedSVRPG-M: gradients against exact values, the sign of its correction, and its special cases."""

import numpy as np
import pytest

from pfedrl.algorithms.td.fed_svrpg_m import FedSVRPGM
from pfedrl.algorithms.td.policy_gradient import softmax
from pfedrl.envs.tabular.random_mdp import RandomMDP

FAMILY = RandomMDP(agents=3, support=0.5, states=3, actions=2, gamma=0.8, held_out=0)
HORIZON = 4
SETTINGS = {"training_rounds": 40, "local_steps": 3, "eta": 0.1, "horizon": HORIZON}


def made(**changes):
    algorithm = FedSVRPGM(**SETTINGS | changes)
    task = FAMILY.task(FAMILY.draw(range(2)))
    return algorithm.learner(task, range(2)), algorithm.exchange(task, range(2))


def value(learner, table, agent):
    """What HORIZON transitions give an agent of the first seed, exactly."""
    task = learner.task
    policy = softmax(table[None, None], task.actions)[0, 0]
    moves = task.dense(task.training)[0, agent]
    reward = task.reward[:, 0].reshape(task.states, task.actions)
    ahead = np.zeros(task.states)
    for _ in range(HORIZON):
        ahead = (policy * (reward + task.gamma * moves @ ahead)).sum(axis=1)
    return task.restarts() @ ahead


def exact(learner, table, agent, step=1e-5):
    """Its gradient, by differences."""
    changes = step * np.eye(len(table))
    return np.array([
        (value(learner, table + c, agent) - value(learner, table - c, agent)) / (2 * step)
        for c in changes
    ])  # fmt: skip


def test_gradients_and_weights_have_the_exact_means():
    """So the correction is subtracted: its mean is the gradient at the round's start."""
    learner, _ = made()
    random = np.random.default_rng(0)
    anchor = random.standard_normal(learner.tables.shape)
    learner.tables[:] = anchor + random.standard_normal(anchor.shape) * 0.7
    times, seen = 4000, []
    for _ in range(times):
        climb = learner.trajectory(anchor, learner.uniforms.take(3 * HORIZON))
        seen.append([climb.own[0], climb.weight[0] * climb.anchor[0]])
    mean, error = np.mean(seen, axis=0), np.std(seen, axis=0) / np.sqrt(times)
    for agent in range(3):
        here = exact(learner, learner.tables[0, agent], agent)
        there = exact(learner, anchor[0, agent], agent)
        assert (np.abs(mean[0, agent] - here) < 4.5 * error[0, agent]).all()
        assert (np.abs(mean[1, agent] - there) < 4.5 * error[1, agent]).all()
        assert (np.abs(mean[1, agent] + there) > 9 * error[1, agent]).any()  # a plus would add


def test_without_momentum_it_is_the_average_of_plain_policy_gradients():
    learner, exchange = made(beta=1.0)
    plain, _ = made(beta=1.0)
    exchange.begin(learner.parts)
    for number in range(10):
        learner.advance(1)
        exchange(learner.parts, number)
        plain.advance(1)
        plain.tables[:] = plain.tables.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(learner.tables, plain.tables, atol=1e-12)


def test_the_direction_is_the_mean_move_for_each_step():
    learner, exchange = made(server_step=0.5)
    exchange.begin(learner.parts)
    learner.advance(1)
    move = learner.tables.mean(axis=1, keepdims=True)  # from zero
    exchange(learner.parts, 0)
    np.testing.assert_allclose(learner.direction[:, :1], move / (0.1 * 3))
    np.testing.assert_allclose(learner.tables[:, :1], 0.5 * move)


@pytest.mark.parametrize("beta", [0.2, 1.0])
def test_it_climbs_the_agents_mean_value(beta):
    learner, exchange = made(beta=beta, training_rounds=150)
    exchange.begin(learner.parts)

    def mean_value():
        return np.mean([value(learner, learner.tables[0, agent], agent) for agent in range(3)])

    first = mean_value()
    for number in range(150):
        learner.advance(1)
        exchange(learner.parts, number)
    assert mean_value() > first + 0.1
