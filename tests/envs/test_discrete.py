"""Continuous actions on a grid: the inner environments move as they would by those actions."""

import numpy as np

from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.envs.discrete import Discretised, discretised
from pfedrl.envs.mujoco.hopper import Hopper
from tests.plain.regulator import Regulators

HOPPER = Hopper(agents=2, low=0.03, high=0.05, cap=6, held_out=3)


def test_an_action_is_a_point_of_the_grid():
    environments = Discretised(Regulators(np.ones(3), cap=5), levels=3)
    assert environments.action_space.count == 3
    starts = np.full((3, 2), 0.5)
    environments.reset(np.arange(3), starts)
    environments.step(np.array([[0], [1], [2]]), np.ones(3, bool))
    alone = Regulators(np.ones(3), cap=5)
    alone.reset(np.arange(3), starts)
    alone.step(np.array([[-2.0], [0.0], [2.0]]), np.ones(3, bool))
    np.testing.assert_array_equal(environments.reward, alone.reward)
    np.testing.assert_array_equal(environments.observation, alone.observation.astype(np.float32))
    assert environments.observation.dtype == np.float32


def test_a_hopper_has_27_actions_the_middle_one_is_none():
    task = discretised(HOPPER.task(HOPPER.draw([0])), levels=3)
    environments = task.environments()
    assert environments.action_space.count == 27
    np.testing.assert_array_equal(environments.grid[13], [0, 0, 0])
    np.testing.assert_array_equal(
        abs(environments.grid).max(axis=0), environments.inner.action_space.limit
    )
    assert task.newcomers().agents == 3
    assert len(task.newcomers().environments().observation) == 3


def test_observations_of_interest_lie_within_their_limits():
    task = discretised(HOPPER.task(HOPPER.draw([0])), levels=3)
    seen = task.observations([np.random.default_rng(seed) for seed in range(2)], 50)
    limit = task.observation_limit()
    assert seen.shape == (2, 50, 11) and (abs(seen) <= limit).all()
    environments = task.environments()
    environments.reset(np.arange(2), environments.starts([np.random.default_rng(0)] * 2))
    assert (abs(environments.observation) <= limit).all()


def test_few_actions_are_left_as_they_are():
    family = CartPole(agents=2, low=0.2, high=0.8, cap=30)
    task = family.task(family.draw([0]))
    assert discretised(task, 3) is task
    settings = {"episodes": 5, "local_steps": 5, "unit": "step", "layers": 1, "batch": 8}
    more = {"learning_rate": 0.01, "gamma": 0.9, "epsilon": 0.1, "buffer": 50, "warm_up": 10}
    assert DQNAvg(**settings, **more, target_every=5).seen(task) is task
