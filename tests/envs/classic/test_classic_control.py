"""The batched physics is gymnasium's, for the default and for edited members."""

import gymnasium
import numpy as np
import pytest

from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole

CARTPOLE = {"agents": 4, "low": 0.1, "high": 0.9, "cap": 200}
ACROBOT = {"agents": 4, "low": -0.3, "high": 0.3, "cap": 1000}


def edited(family, parameters):
    """gymnasium's environment with a member's parameters."""
    if isinstance(family, CartPole):
        env = gymnasium.make("CartPole-v1").unwrapped
        env.length, env.masspole = parameters
        env.total_mass = env.masspole + env.masscart
        env.polemass_length = env.masspole * env.length
    else:
        env = gymnasium.make("Acrobot-v1").unwrapped
        env.LINK_LENGTH_1, env.LINK_MASS_1, env.LINK_COM_POS_1 = parameters
    return env


@pytest.mark.parametrize(
    "family",
    [
        CartPole(**CARTPOLE, members=[0.5]),
        CartPole(**CARTPOLE),
        CartPole(**CARTPOLE, mass_follows=True),
        Acrobot(**ACROBOT, members=[0.0]),
        Acrobot(**ACROBOT),
        Acrobot(**ACROBOT, length_varies=False, centre_follows=False),
    ],
    ids=["cartpole", "lengths", "masses", "acrobot", "links", "link masses"],
)
def test_steps_are_gymnasiums(family):
    task = family.task(family.draw(range(3)))
    physics = task.physics
    parameters = task.training.reshape(12, -1)
    rng = np.random.default_rng(0)
    state = rng.uniform(-physics.start, physics.start, (12, 4))
    envs = [edited(family, row) for row in parameters]
    for env, row in zip(envs, state, strict=True):
        env.reset(seed=0)
        env.state = row.copy()
    active = np.ones(12, bool)
    reward, terminal = np.empty(12, np.float32), np.empty(12, bool)
    for _ in range(150):
        action = rng.integers(physics.actions, size=12)
        physics.step(state, action, parameters, active, reward, terminal)
        seen = physics.observations(state)
        for i, env in enumerate(envs):
            observation, expected_reward, terminated, _, _ = env.step(int(action[i]))
            np.testing.assert_allclose(state[i], env.state, atol=1e-9)
            np.testing.assert_allclose(seen[i], observation, atol=1e-6)
            assert terminal[i] == terminated
            if not terminated:
                assert reward[i] == expected_reward
            else:
                state[i] = rng.uniform(-physics.start, physics.start, 4)
                env.reset(seed=0)
                env.state = state[i].copy()


def test_listed_members_repeat_and_new_ones_follow():
    family = CartPole(**{**CARTPOLE, "agents": 4}, members=[0.36, 0.42], new_members=[0.82])
    draws = family.draw(range(2))
    np.testing.assert_array_equal(draws["training"], [[0.36, 0.42, 0.36, 0.42]] * 2)
    np.testing.assert_array_equal(draws["held_out"], [[0.82]] * 2)


def test_the_search_finds_a_swing_up_and_a_finer_grid_is_no_slower():
    from pfedrl.envs.classic.physics import fastest_swing_up

    start, parameters = np.full(4, 0.05), np.array([1.0, 1.0, 0.5])
    coarse = fastest_swing_up(start, parameters, 40, 1000)
    fine = fastest_swing_up(start, parameters, 60, 1000)
    assert 50 < fine <= coarse < 100
