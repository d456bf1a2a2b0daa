"""FigureEight against Flow's own returns, its conventions, and its determinism.

SUMO runs in worker processes only: libsumo must not meet pyarrow, which other tests load.
"""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic.calibration import CASES
from pfedrl.envs.traffic.episodes import constant, play, random_acceleration
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.network import Network, build_network
from pfedrl.envs.traffic.pool import FigureEightPool
from pfedrl.envs.traffic.simulation import Idm


@pytest.fixture(scope="module")
def alternating(network: Network) -> Iterator[FigureEightPool]:
    with FigureEightPool(FigureEightFamily(), network, 2) as pool:
        yield pool


@pytest.mark.parametrize(
    "case", [case for case in CASES if "N(0, 1)" not in case.name], ids=lambda case: case.name
)
def test_one_episode_of_each_case_is_flows(network: Network, case) -> None:
    with FigureEightPool(FigureEightFamily(**case.settings), network, 1) as pool:
        episode = play(pool, case.policy, [0])[0]
    assert case.low <= episode.total <= case.high
    assert len(episode.rewards) == 1500
    assert not episode.crashed


def test_the_same_seed_gives_the_same_episode(alternating: FigureEightPool) -> None:
    first, second = play(alternating, random_acceleration, [3, 4])
    again = play(alternating, random_acceleration, [4, 3])
    assert np.array_equal(first.rewards, again[1].rewards)
    assert np.array_equal(second.rewards, again[0].rewards)
    assert first.total != second.total


def test_a_crash_ends_the_episode_without_reward(network: Network) -> None:
    # noisy humans crash at the crossing around step 87 in about one run of ten
    family = FigureEightFamily(placement="h" * 14, horizon=120)
    with FigureEightPool(family, network, 2) as pool:
        episodes = play(pool, constant(0), range(20))
    crashed = [episode for episode in episodes if episode.crashed]
    assert crashed
    assert all(80 <= len(episode.rewards) <= 95 for episode in crashed)
    assert all(episode.rewards[-1] == 0 for episode in crashed)
    assert all(len(episode.rewards) == 120 for episode in episodes if not episode.crashed)


def test_observations_are_the_neighbours_or_what_the_authors_take_for_them(network) -> None:
    seen = {}
    for kind in ("neighbours", "as_authors"):
        family = FigureEightFamily(observation=kind, human_noise=0)
        with FigureEightPool(family, network, 1) as pool:
            pool.reset([0])
            for _ in range(30):
                answer = pool.step(np.full((1, 7), 1.5))[0]
        seen[kind] = answer.observations
        speeds = answer.vehicles.speeds / 30
    # agent 0 drives vehicle 1, between vehicles 0 and 2
    assert seen["neighbours"][0, ::2] == pytest.approx(speeds[[0, 1, 2]])
    # the authors' slices: speeds of vehicles 0 to 5 for agent 0, positions only for the last
    assert seen["as_authors"][0] == pytest.approx(speeds[:6])
    positions = seen["neighbours"][:, 1::2]
    assert np.isin(seen["as_authors"][-1].round(9), positions.round(9)).sum() >= 4


@pytest.mark.parametrize("placement", ["r", "h", "rh", "hhr", "r" * 20, "hrhhrrhrhhhrrr"])
def test_placements_of_any_length_drive(network: Network, placement: str) -> None:
    family = FigureEightFamily(placement=placement, horizon=100)
    with FigureEightPool(family, network, 1) as pool:
        episode = play(pool, constant(1), [0])[0]
    assert episode.total > 0


def test_more_lanes_drive() -> None:
    family = FigureEightFamily(lanes=2, placement="hr" * 14, horizon=100)
    with FigureEightPool(family, build_network(30, 2, 30), 1) as pool:
        assert play(pool, constant(1), [0])[0].total > 0


def test_vehicles_that_do_not_fit_are_refused_before_sumo_starts() -> None:
    family = FigureEightFamily(placement="h" * 60)
    with pytest.raises(PfedrlError, match="60 vehicles do not fit"):
        family.task(family.draw([0]))


def test_experience_has_equal_slots_and_repeats() -> None:
    family = FigureEightFamily(horizon=40)
    task = family.task(family.draw(range(2)))
    seed, agent = (index.reshape(-1) for index in np.indices((2, 7)))

    def collect():
        generators = [np.random.default_rng([s, a]) for s, a in zip(seed, agent, strict=True)]
        return task.collect(seed, agent, 2, lambda seen, _: (seen, seen[..., :1] + 1), generators)

    lived, again = collect(), collect()
    with pytest.raises(PfedrlError, match="select all of them every round"):
        task.collect(seed[:3], agent[:3], 1, lambda seen, _: (seen, seen[..., :1]), [])
    task.close()
    assert lived.observations.shape == (14, 80, 6)
    assert np.array_equal(lived.observations, again.observations)
    assert lived.ends.sum(axis=1).tolist() == [2] * 14
    assert lived.episode_returns() == pytest.approx(lived.rewards.reshape(14, 2, 40).sum(axis=2))
    assert np.array_equal(lived.rewards[0], lived.rewards[6])  # shared
    assert not np.array_equal(lived.rewards[0], lived.rewards[7])


def test_the_driver_follows_the_intelligent_driver_model() -> None:
    idm = Idm()
    assert idm(0, 0, float("inf")) == 1
    assert idm(30, 30, float("inf")) == 0
    assert idm(10, 10, 12) == pytest.approx(1 - (1 / 3) ** 4 - 1)
    assert idm(10, 0, 20) < idm(10, 10, 20)


CONVENTIONS = """
import warnings
from gymnasium.utils.env_checker import check_env
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.environment import FigureEight, FigureEightParallel
from pfedrl.core.errors import PfedrlError

warnings.simplefilter("ignore")
family = FigureEightFamily(horizon=20)
env = FigureEight(family)
check_env(env, skip_render_check=True)
try:
    FigureEight(family).reset()
except PfedrlError as error:
    assert "already runs a SUMO simulation" in str(error)
else:
    raise AssertionError("two simulations in one process")
env.close()
parallel = FigureEightParallel(family)
try:
    from pettingzoo.test import parallel_api_test
except ImportError:
    print("no pettingzoo")
else:
    parallel_api_test(parallel, num_cycles=50)
seen, _ = parallel.reset(seed=1)
assert list(seen) == [f"vehicle_{i}" for i in (1, 3, 5, 7, 9, 11, 13)]
done = False
while parallel.agents:
    actions = {name: parallel.action_space(name).sample() for name in parallel.agents}
    _, rewards, terminated, truncated, _ = parallel.step(actions)
assert all(truncated.values()) and not any(terminated.values())
assert len(set(rewards.values())) == 1
parallel.close()
"""


def test_gymnasiums_and_pettingzoos_conventions_are_kept() -> None:
    done = subprocess.run([sys.executable, "-c", CONVENTIONS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
