"""Experience of the figure eight, with simulations that are made up: no SUMO."""

import numpy as np

from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.pool import Seen, Vehicles
from pfedrl.envs.traffic.task import TrafficTask

HORIZON, AGENTS = 4, 7
NOWHERE = Vehicles(np.zeros(14), np.zeros(14), np.zeros(14))


class FakePool:
    """Simulations that tell their seed in all they answer; some lose a vehicle at some step."""

    def __init__(self, lost: dict[tuple[int, int], int]):
        self.lost = lost  # (simulation, number of its episode) to the step
        self.seeds: dict[int, list[int]] = {}
        self.clock: dict[int, int] = {}
        self.stepped: list[list[int]] = []

    def _seen(self, row: int, **said) -> Seen:
        now = self.seeds[row][-1] % 1000 + self.clock[row] / 10
        return Seen(np.full((AGENTS, 6), now), NOWHERE, reward=now, **said)

    def reset(self, seeds, which) -> list[Seen]:
        for row, seed in zip(which, seeds, strict=True):
            self.seeds.setdefault(row, []).append(seed)
            self.clock[row] = 0
        return [self._seen(row) for row in which]

    def step(self, actions, which) -> list[Seen]:
        rows = list(which)
        self.stepped.append(rows)
        answers = []
        for row in rows:
            self.clock[row] += 1
            lost = self.lost.get((row, len(self.seeds[row]))) == self.clock[row]
            answers.append(self._seen(row, lost=lost, ended=lost or self.clock[row] == HORIZON))
        return answers


class Act:
    """Each member's actions count how often it has acted."""

    def __init__(self, members: int):
        self.acted = np.zeros(members)

    def __call__(self, observations, acting=None):
        self.acted += 1 if acting is None else acting
        return observations, np.repeat(self.acted[:, None, None], observations.shape[1], axis=1)


def lived(seeds, lost):
    """Experience, pool and acting of seeds that are called by their numbers."""
    family = FigureEightFamily(horizon=HORIZON)
    task = TrafficTask(family, family.network(family.draw([0])), len(seeds))
    task._pool = pool = FakePool(lost)
    act = Act(AGENTS * len(seeds))
    seed = np.repeat(np.arange(len(seeds)), AGENTS)
    agent = np.tile(np.arange(AGENTS), len(seeds))
    generators = [np.random.default_rng([s, a]) for s in seeds for a in range(AGENTS)]
    return task.collect(seed, agent, 2, act, generators), pool, act


def test_a_lost_episode_is_played_anew_while_a_seed_that_is_done_rests():
    lost = {(1, 1): 3, (1, 3): 2}  # of seed 6: its first episode, and its third
    found, pool, act = lived([5, 6], lost)
    steps, again = 2 * HORIZON, 3 + 2
    assert len(pool.stepped) == steps + again
    assert pool.stepped == [[0, 1]] * steps + [[1]] * again
    np.testing.assert_array_equal(act.acted.reshape(2, AGENTS)[:, 0], [steps, steps + again])
    # what is kept of seed 6 is its second episode and its fourth, whole
    kept = [pool.seeds[1][number] % 1000 for number in (1, 3)]
    expected = np.add.outer(kept, np.arange(1, HORIZON + 1) / 10).ravel()
    np.testing.assert_allclose(found.rewards[AGENTS], expected)
    ends = np.tile(np.arange(HORIZON) == HORIZON - 1, 2)
    np.testing.assert_array_equal(found.ends, np.tile(ends, (2 * AGENTS, 1)))


def test_a_seed_is_the_same_beside_one_that_loses_episodes():
    beside, _, _ = lived([5, 6], {(1, 1): 3, (1, 3): 2})
    alone, _, _ = lived([5], {})
    for together, own in zip(beside, alone, strict=True):
        np.testing.assert_array_equal(together[:AGENTS], own)


def test_all_of_a_lost_episodes_marks_go():
    """Lost at its last step, where an end had been marked already: it counts once, played anew."""
    found, pool, _ = lived([5], {(0, 1): HORIZON})
    assert len(pool.seeds[0]) == 3
    assert found.ends[0].sum() == 2
