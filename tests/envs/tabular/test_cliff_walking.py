"""CliffWalking and the chains of its evaluation policies."""

import gymnasium
import numpy as np
import pytest

from pfedrl.envs.tabular.chain import Chain, chain
from pfedrl.envs.tabular.cliff_walking import GOAL, START, CliffWalking
from pfedrl.envs.tabular.random_mdp import RandomMDP


@pytest.fixture(scope="module")
def task():
    family = CliffWalking(gamma=0.9)
    return family.task(family.draw([0, 1]))


def test_every_step_agrees_with_gymnasium(task):
    table = gymnasium.make("CliffWalking-v1").unwrapped.P
    for state in [s for s in table if s != GOAL]:
        for action in range(4):
            ((chance, reached, reward, ended),) = table[state][action]
            row = state * 4 + action
            assert chance == 1.0
            assert task.successors[row, 0] == reached
            assert task.reward[row, 0] == reward
            assert task.terminal[reached] == ended


def test_an_episode_of_gymnasium_earns_what_the_linear_solve_says(task):
    exact = chain(task).values()[0, :, START]
    policies = task.policies.reshape(3, 48, 4).argmax(axis=2)
    env = gymnasium.make("CliffWalking-v1")
    for agent in range(3):
        state, _ = env.reset(seed=0)
        earned, factor, ended = 0.0, 1.0, False
        while not ended:
            state, reward, ended, _, _ = env.step(int(policies[agent, state]))
            earned, factor = earned + factor * reward, factor * 0.9
        assert earned == pytest.approx(exact[agent])


def test_start_state_values_of_the_three_paths(task):
    """Paths of 13, 15 and 17 steps at -1 each."""
    exact = [-(1 - 0.9**steps) / 0.1 for steps in (13, 15, 17)]
    np.testing.assert_allclose(chain(task).values()[0, :, START], exact)
    np.testing.assert_allclose(exact, [-7.46, -7.94, -8.33], atol=0.005)


def test_exploring_starts_visit_every_safe_state_and_no_other(task):
    stationary = chain(task).stationary()
    safe = np.arange(48) <= START
    assert (stationary[..., safe] > 1e-6).all()
    np.testing.assert_allclose(stationary[..., ~safe], 0.0, atol=1e-12)
    np.testing.assert_allclose(stationary.sum(axis=-1), 1.0)


def test_stationary_distribution_stays_and_mixing_time_is_when_it_is_reached(task):
    walk = chain(task)
    transitions, stationary = walk.transitions(), walk.stationary()
    np.testing.assert_allclose(transitions.sum(axis=-1), 1.0)
    np.testing.assert_allclose(
        np.einsum("xis,xist->xit", stationary, transitions), stationary, atol=1e-12
    )
    times = walk.mixing_times(0.25)
    for agent in range(3):
        matrix = transitions[0, agent]
        for steps, within in ((times[0, agent], True), (times[0, agent] - 1, False)):
            ahead = np.linalg.matrix_power(matrix, int(steps))[: START + 1]
            apart = 0.5 * np.abs(ahead - stationary[0, agent]).sum(axis=1).max()
            assert (apart <= 0.25) == within


def test_mixing_time_of_two_states_that_swap_with_a_chance():
    """P^k is within (1-2p)^k / 2 of uniform."""
    stay = 0.9
    walk = Chain(
        probability=np.array([[[[stay, 1 - stay], [stay, 1 - stay]]]]),
        target=np.array([[0, 1], [1, 0]]),
        reward=np.zeros((1, 2, 2)),
        terminal=np.zeros(2, bool),
        restart=np.array([0.5, 0.5]),
        gamma=0.9,
    )
    np.testing.assert_allclose(walk.stationary(), [[[0.5, 0.5]]])
    expected = int(np.ceil(np.log(2 * 0.01) / np.log(2 * stay - 1)))
    assert walk.mixing_times(0.01) == expected


def test_copies_of_distinct_environments_take_turns():
    family = RandomMDP(agents=6, distinct=2, held_out=1, gamma=0.9, support=0.5)
    training = family.task(family.draw([3])).members
    for agent in range(6):
        np.testing.assert_array_equal(training.training[agent], training.training[agent % 2])
    alone = RandomMDP(agents=2, held_out=1, gamma=0.9, support=0.5)
    same = alone.task(alone.draw([3])).members
    np.testing.assert_array_equal(training.training[:2], same.training)
    np.testing.assert_array_equal(training.held_out, same.held_out)
