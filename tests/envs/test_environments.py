"""The step of every family: starts decide, rows that rest stay, the end is seen before a reset."""

import copy

import numpy as np
import pytest

from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.envs.environments import Continuous, Discrete, episode_returns
from pfedrl.envs.mujoco.half_cheetah import HalfCheetah
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.envs.mujoco.reacher import CLIENTS, Reacher
from pfedrl.envs.traffic.figure_eight import FigureEightFamily

SEEDS = range(2)
FAMILIES = {
    "cartpole": CartPole(agents=3, low=0.2, high=0.8, cap=6),
    "acrobot": Acrobot(agents=3, low=-0.3, high=0.3, cap=6),
    "reacher": Reacher(horizon=6, target_cells=True, action_noise=0.3),
    "reacher, noise a step": Reacher(horizon=6, action_noise=0.3, noise_kind="per_step"),
    "hopper": Hopper(agents=3, low=0.03, high=0.05, cap=6),
    "half-cheetah": HalfCheetah(agents=3, low=0.0, high=1.0, cap=6),
    "figure eight": FigureEightFamily(placement="hrhr", horizon=6),
}


@pytest.fixture(params=FAMILIES)
def environments(request):
    family = FAMILIES[request.param]
    task = family.task(family.draw(SEEDS))
    yield task.environments()
    if hasattr(task, "close"):
        task.close()


def drawn(environments, seed=0):
    rows = len(environments.observation)
    generators = [np.random.default_rng((seed, row)) for row in range(rows)]
    return environments.starts(generators)


def actions(environments, seed):
    rng, space = np.random.default_rng(seed), environments.action_space
    shape = (len(environments.observation), space.size)
    if isinstance(space, Discrete):
        return rng.integers(space.count, size=shape)
    assert isinstance(space, Continuous)
    return rng.uniform(-space.limit, space.limit, shape)


def step(environments, seed, active=None):
    everyone = np.ones(len(environments.observation), bool)
    environments.step(actions(environments, seed), everyone if active is None else active)
    return environments.observation.copy(), environments.reward.copy()


def test_the_same_start_and_actions_lead_to_the_same_end(environments):
    starts, everyone = drawn(environments), np.arange(len(environments.observation))
    lived = []
    for _ in range(2):
        environments.reset(everyone, starts)
        begun = environments.observation.copy()
        lived.append([begun, *(part for t in range(6) for part in step(environments, t))])
    for first, second in zip(*lived, strict=True):
        np.testing.assert_array_equal(first, second)
    assert begun.shape == (len(everyone), environments.observation_size)
    assert environments.truncated.all(), "the cap is reached"


def test_rows_that_rest_stay_and_a_reset_touches_no_other(environments):
    rows = len(environments.observation)
    first = np.arange(rows) < rows // 2  # the first seed
    environments.reset(np.arange(rows), drawn(environments))
    step(environments, 0)
    before, clock = environments.observation, environments.observation.copy()
    after, _ = step(environments, 1, first)
    np.testing.assert_array_equal(before, clock)  # what was seen is still there to be stored
    np.testing.assert_array_equal(after[~first], before[~first])
    assert (after[first] != before[first]).any(axis=1).all()
    environments.reset(np.flatnonzero(first), drawn(environments, 1)[first])
    np.testing.assert_array_equal(environments.observation[~first], before[~first])
    for t in range(2, 7):  # the others have one step behind them, these none
        step(environments, t)
    assert environments.truncated[~first].all() and not environments.truncated[first].any()
    step(environments, 7, first)
    assert environments.truncated[first].all()


def test_it_goes_on_from_a_checkpoint(environments):
    environments.reset(np.arange(len(environments.observation)), drawn(environments))
    step(environments, 0)
    kept = copy.deepcopy(environments.state())
    expected = step(environments, 1)
    environments.restore(kept)
    for found, value in zip(step(environments, 1), expected, strict=True):
        np.testing.assert_array_equal(found, value)


def test_a_pole_that_falls_terminates_and_one_at_its_cap_is_truncated():
    family = CartPole(agents=2, low=0.5, high=0.5, cap=30)
    environments = family.task(family.draw([0])).environments()
    starts = np.full((2, 4), 0.5)
    pushed = np.array([[0], [0]])
    assert (episode_returns(environments, starts, lambda seen: pushed) < 12).all()
    assert environments.terminated.all() and not environments.truncated.any()
    # a push towards the side where it falls
    returns = episode_returns(environments, starts, lambda seen: (seen[:, 2:] @ [[1], [1]] > 0) * 1)
    assert (returns == 30).all()
    assert environments.truncated.all() and not environments.terminated.any()


def test_every_client_of_reacher_is_a_row():
    family = FAMILIES["reacher"]
    task = family.task(family.draw(SEEDS))
    assert len(task.environments().observation) == len(SEEDS) * CLIENTS
