"""Members that gymnasium makes: beside our own CartPole, and with every way of telling them."""

import copy

import gymnasium
import numpy as np
import pytest

from pfedrl.algorithms.controls.best_found import BestFound
from pfedrl.algorithms.controls.random_policy import RandomPolicy
from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
from pfedrl.algorithms.dqn.pfed_dqn_rep import PFedDQNRep
from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import Recorder
from pfedrl.core.settings import read_yaml
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.envs.environments import Continuous, episode_returns
from pfedrl.envs.gymnasium_tasks.gym_any import GymAny
from pfedrl.envs.gymnasium_tasks.physics import uniform
from pfedrl.stack.loop import Control
from tests.tiny import ROOT

LENGTHS = [0.3, 0.5, 0.8]
POLES = GymAny(
    id="CartPole-v1", agents=3, held_out=2, cap=40,
    parameters={"length": {"low": 0.2, "high": 0.8, "members": LENGTHS,
                           "also": {"polemass_length": 0.1}}},
)  # fmt: skip
PENDULA = GymAny(
    id="Pendulum-v1", agents=2, cap=30, held_out=1,
    parameters={"g": {"through": "make", "low": 5.0, "high": 12.0}, "m": {"low": 0.5, "high": 2.0}},
)  # fmt: skip
SHORT = {
    "episodes": 5, "local_steps": 5, "unit": "step", "layers": 1, "width": 8, "batch": 4,
    "learning_rate": 0.01, "gamma": 0.9, "epsilon": 0.2, "buffer": 100, "warm_up": 10,
    "target_every": 5, "evaluation_episodes": 2, "adapt_episodes": 2,
}  # fmt: skip


class Slippery(gymnasium.ActionWrapper):
    """Every so manieth action, by its own count, is reversed."""

    def __init__(self, env, every: float):
        super().__init__(env)
        self.every, self.count = int(every), 0

    def action(self, action):
        self.count += 1
        return 1 - action if self.count % self.every == 0 else action


def task_of(family, seeds=range(2)):
    return family.task(family.draw(seeds))


def recorded(algorithm, family, seeds, control=None):
    recorder = Recorder(seeds)
    algorithm.run(seeds, family, family.draw(seeds), recorder, control or Control(2))
    columns = recorder.columns()
    keys = [columns[name].tolist() for name in ("seed", "agent", "metric", "axis", "at", "value")]
    return {row[:-1]: repr(row[-1]) for row in zip(*keys, strict=True)}


def test_its_cartpoles_are_ours():
    """The same states, actions and members: the same observations, rewards and ends."""
    theirs = task_of(POLES).environments()
    ours = task_of(CartPole(agents=3, low=0.2, high=0.8, members=LENGTHS, cap=40)).environments()
    everyone, random = np.arange(6), np.random.default_rng(0)
    starts = theirs.starts([np.random.default_rng(row) for row in range(6)])
    theirs.reset(everyone, starts)
    ours.reset(everyone, random.random((6, 4)))
    ours.states[:] = [env.unwrapped.state for env in theirs.envs.envs]
    active = np.ones(6, bool)
    for _ in range(40):
        action = random.integers(2, size=(6, 1))
        theirs.step(action, active)
        ours.step(action.astype(np.int8), active)
        np.testing.assert_allclose(theirs.observation[active], ours.observation[active], atol=1e-6)
        np.testing.assert_array_equal(theirs.reward[active], ours.reward[active])
        np.testing.assert_array_equal(theirs.terminated[active], ours.terminated[active])
        active &= ~ours.terminated
    assert not active.all()


@pytest.mark.parametrize("family", [POLES, PENDULA], ids=["cartpole", "pendulum"])
def test_the_same_start_and_actions_lead_to_the_same_end_and_rows_that_rest_stay(family):
    environments, lived = task_of(family).environments(), []
    rows = len(environments.clock)
    starts = environments.starts([np.random.default_rng(row) for row in range(rows)])
    for _ in range(2):
        environments.reset(np.arange(rows), starts)
        random, seen = np.random.default_rng(1), []
        for step in range(12):
            active = np.arange(rows) % 2 == (step % 3 > 0)
            before = environments.observation
            space = environments.action_space
            limit = space.limit if isinstance(space, Continuous) else 1
            environments.step(random.integers(limit + 1, size=(rows, space.size)), active)
            np.testing.assert_array_equal(environments.observation[~active], before[~active])
            seen.append(environments.observation.copy())
        lived.append(np.stack(seen))
    np.testing.assert_array_equal(*lived)


def test_a_checkpoint_is_gone_on_from():
    environments, random = task_of(POLES).environments(), np.random.default_rng(0)
    everyone = np.ones(6, bool)
    environments.reset(np.arange(6), environments.starts([random] * 6))
    for _ in range(5):
        environments.step(random.integers(2, size=(6, 1)), everyone)
    resumed = task_of(POLES).environments()
    resumed.restore(copy.deepcopy(environments.state()))
    action = random.integers(2, size=(6, 1))
    for one in (environments, resumed):
        one.step(action, everyone)
    np.testing.assert_array_equal(environments.observation, resumed.observation)
    np.testing.assert_array_equal(environments.clock, resumed.clock)


def test_every_way_of_telling_a_member_its_number_changes_its_episodes():
    slippery = {"through": "wrapper", "wrapper": f"{__name__}:Slippery", "low": 2.0, "high": 9.0}
    ways = {
        "attribute": POLES,
        "make": PENDULA.model_copy(update={"parameters": {"g": PENDULA.parameters["g"]}}),
        "wrapper": GymAny(id="CartPole-v1", agents=2, cap=40, parameters={"every": slippery}),
    }
    for way, family in ways.items():
        physics = task_of(family).physics
        low, high = (
            [getattr(p, end) for p in family.parameters.values()] for end in ("low", "high")
        )
        rows = physics.rows(np.array([low, high]))
        rows.reset(np.arange(2), np.array([[5.0], [5.0]]))
        first = rows.observation.copy()
        for _ in range(6):
            rows.step(np.ones((2, 1), int), np.ones(2, bool))
        np.testing.assert_array_equal(first[0], first[1])
        assert (rows.observation[0] != rows.observation[1]).any(), way


def test_an_attribute_that_is_not_there_is_an_error():
    wrong = POLES.model_copy(update={"parameters": {"lenght": POLES.parameters["length"]}})
    with pytest.raises(PfedrlError, match="CartPoleEnv has no attribute 'lenght'"):
        task_of(wrong).environments()


@pytest.mark.parametrize("algorithm", [DQNAvg(**SHORT), PFedDQNRep(**SHORT)], ids=["avg", "rep"])
def test_agents_learn_there_and_a_seed_alone_is_the_seed_in_a_block(algorithm):
    alone, among = (recorded(algorithm, POLES, seeds) for seeds in (range(1, 2), range(2)))
    assert alone == {key: value for key, value in among.items() if key[0] == 1}
    assert {key[2] for key in among} == algorithm.metrics(POLES)


def test_continuous_actions_are_taken_from_a_grid():
    algorithm = DQNAvg(**SHORT)
    assert {key[2] for key in recorded(algorithm, PENDULA, range(1))} == algorithm.metrics(PENDULA)


def test_controls_record_what_they_declare_there():
    for control in (RandomPolicy(evaluation_episodes=2), BestFound()):
        found = {key[2] for key in recorded(control, POLES, range(1))}
        assert found == control.metrics(POLES)


@pytest.mark.parametrize("family", [POLES, PENDULA], ids=["cartpole", "pendulum"])
def test_the_best_found_is_above_random_policies_from_the_same_start(family):
    physics, random = task_of(family).physics, np.random.default_rng(0)
    rows = physics.rows(np.repeat(physics.member[None], 8, axis=0))
    start = rows.starts([random])
    tried = episode_returns(rows, np.repeat(start, 8, axis=0), lambda seen: uniform(rows, random))
    best = physics.best(physics.member, start[0])
    assert best == physics.best(physics.member, start[0]) > tried.max()
    assert family is not POLES or best == family.cap  # linear policies balance


def test_the_project_has_one_of_them():
    given = read_yaml(ROOT / "envs" / "gym_any.yaml")
    family = GymAny.model_validate({k: v for k, v in given.items() if k not in
                                    ("family", "description")})  # fmt: skip
    assert family.skip() is None
    assert GymAny(**family.model_dump() | {"id": "NoSuchTask-v9"}).skip() is not None
