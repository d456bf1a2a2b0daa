"""Reacher against gymnasium's own, and the clients' differences."""

import warnings

import gymnasium
import numpy as np
import pytest

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.mujoco import reacher_kernels as kernels
from pfedrl.envs.mujoco.reacher import CORNERS, Reacher, cells


def random_act(random):
    def act(observations):
        return observations, random.uniform(-1, 1, (*observations.shape[:-1], 2))

    return act


def zero_act(observations):
    return observations, np.zeros((*observations.shape[:-1], 2))


def collect(family, act, agents, episodes, seed=0):
    task = family.task(family.draw([seed]))
    agents = np.asarray(agents)
    generators = [generator(seed, Purpose.AGENT, int(a)) for a in agents]
    return task.collect(np.zeros(len(agents), int), agents, episodes, act, generators)


@pytest.fixture(scope="module")
def gym_reacher():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make("Reacher-v4").unwrapped
    env.model.opt.tolerance = 1e-15  # MuJoCo's solver stops at 1e-8, ours is exact
    return env


@pytest.mark.parametrize("drift", [0.0, 1.0, 2.0])
def test_steps_as_gymnasium(gym_reacher, drift):
    """Whole episodes; with drift the elbow runs into its limit and actions beyond their range."""
    random, observation, reward = np.random.default_rng(1), np.empty((1, 11)), np.empty(1)
    beyond = 0
    for episode in range(10):
        expected, _ = gym_reacher.reset(seed=episode)
        data = gym_reacher.data
        arm = np.concatenate([data.qpos[:2], data.qvel[:2]])[None].copy()
        target, push = data.qpos[2:][None].copy(), drift * random.normal(size=2)
        kernels.place(arm, target, observation)
        np.testing.assert_allclose(observation[0], expected, atol=1e-14)
        for _ in range(50):
            action = random.normal(size=2) + push
            expected, expected_reward, *_ = gym_reacher.step(action)
            kernels.step(arm, target, action[None], observation, reward)
            np.testing.assert_allclose(observation[0], expected, atol=1e-10)
            np.testing.assert_allclose(reward[0], expected_reward, atol=1e-10)
            beyond += abs(arm[0, 1]) > kernels.LIMIT
    assert beyond > 0 or drift == 0.0


def test_controls_score_as_known():
    agents = np.arange(64)
    zero = collect(Reacher(), zero_act, agents, 30).episode_returns()
    uniform = collect(Reacher(), random_act(np.random.default_rng(0)), agents, 30)
    assert zero.shape == (64, 30)
    assert zero.mean() == pytest.approx(-12.0, abs=0.3)
    assert uniform.episode_returns().mean() == pytest.approx(-43.0, abs=0.5)


def test_sixty_cells_cover_the_field():
    low, high = cells()
    assert len(np.unique(low, axis=0)) == 60
    assert (high > low).all()
    np.testing.assert_allclose(low.min(axis=0), -0.2)
    np.testing.assert_allclose(high.max(axis=0), 0.2)
    for corner in CORNERS:
        np.testing.assert_array_equal(low[corner], low[1])
    nearest = np.clip(0.0, low, high)  # every cell holds targets within reach
    assert (np.linalg.norm(nearest, axis=1) < 0.2).all()


def test_targets_lie_in_their_cells():
    low, high = cells()
    agents = np.array([0, 1, 9, 27, 62])
    seen = collect(Reacher(target_cells=True), zero_act, agents, 40).observations[:, :, 4:6]
    assert (seen >= low[agents, None]).all() and (seen <= high[agents, None]).all()
    assert (np.linalg.norm(seen, axis=-1) < 0.2).all()


def test_offsets_are_constant_and_cost():
    family = Reacher(action_noise=0.4)
    task = family.task(family.draw([3]))
    assert task.offset.shape == (1, 64, 2)
    assert abs(task.offset).max() <= 1
    assert task.offset.std() == pytest.approx(0.4, abs=0.05)
    lived = collect(family, zero_act, [5], 2, seed=3)
    cost = -lived.rewards[0] - np.linalg.norm(lived.observations[0, :, 8:10], axis=-1)
    np.testing.assert_allclose(cost, (task.offset[0, 5] ** 2).sum(), atol=1e-12)


def test_noise_each_step_differs():
    lived = collect(Reacher(action_noise=0.4, noise_kind="per_step"), zero_act, [5], 2)
    cost = -lived.rewards[0] - np.linalg.norm(lived.observations[0, :, 8:10], axis=-1)
    assert len(np.unique(cost.round(9))) > 90


def test_a_member_gets_the_same_numbers_in_any_stack():
    family = Reacher(target_cells=True, action_noise=0.2)
    alone = collect(family, zero_act, [7], 3)
    among = collect(family, zero_act, [2, 7, 50], 3)
    for one, many in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one[0], many[1])
