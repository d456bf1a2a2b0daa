"""Hoppers and HalfCheetahs: step for step as gymnasium's, members as asked, rows on their own."""

import copy

import gymnasium
import mujoco
import numpy as np
import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.environments import evaluation_starts
from pfedrl.envs.mujoco.half_cheetah import BACK, FRONT, HalfCheetah
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.envs.mujoco.models import (
    Edit,
    built,
    capsule_masses,
    check,
    compiled,
    from_bytes,
    gap,
    to_bytes,
)
from pfedrl.envs.mujoco.stepping import WalkerEnvironments

FAMILIES = {
    "Hopper-v5": Hopper(agents=4, low=0.03, high=0.05, held_out=2),
    "HalfCheetah-v5": HalfCheetah(agents=4, low=0.0, high=1.0, held_out=2),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """gymnasium's cheetah makes MuJoCo write a log to the working directory."""
    monkeypatch.chdir(tmp_path)


def original(family, rows, cap=1000, threads=1):
    return WalkerEnvironments(family.walker(), [compiled(family.asset)] * rows, cap, threads)


@pytest.mark.filterwarnings("ignore:.*settotalmass")
@pytest.mark.parametrize("name", FAMILIES)
def test_it_steps_as_gymnasium_bit_for_bit(name):
    """Episodes from gymnasium's own starts, to their end or cap; actions go beyond their range."""
    cap, rows, random, ended = 40, 8, np.random.default_rng(1), []
    ours = original(FAMILIES[name], rows, cap)
    theirs = [gymnasium.make(name, max_episode_steps=cap) for _ in range(rows)]
    effort = np.linspace(0, 1.5, rows)[:, None]
    for episode in range(2):  # the second goes over what the first has left behind
        seen = [env.reset(seed=row + episode)[0] for row, env in enumerate(theirs)]
        generators = [gymnasium.utils.seeding.np_random(row + episode)[0] for row in range(rows)]
        ours.reset(np.arange(rows), ours.starts(generators))
        np.testing.assert_array_equal(ours.observation, seen)
        active = np.ones(rows, bool)
        while active.any():
            action = effort * random.normal(size=(rows, ours.action_space.size))
            ours.step(action, active)
            for row in np.flatnonzero(active):
                seen, reward, *flags, _ = theirs[row].step(action[row])
                np.testing.assert_array_equal(ours.observation[row], seen)
                assert ours.reward[row] == reward
                assert [ours.terminated[row], ours.truncated[row]] == flags
            active &= ~ours.terminated & ~ours.truncated
        ended += zip(ours.terminated.tolist(), ours.truncated.tolist(), strict=True)
    expected = {(True, False), (False, True)} if name == "Hopper-v5" else {(False, True)}
    assert set(ended) == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_neither_the_batch_nor_the_threads_change_a_bit(name):
    """Members of different shape, against MuJoCo with a workspace of its own for each."""
    family = FAMILIES[name]
    task = family.task(family.draw([0, 1]))
    models = [*task.training.flat, *task.held_out.flat]
    rows, frames = len(models), family.walker().frames
    together, shared = (WalkerEnvironments(family.walker(), models, 1000, n) for n in (1, 3))
    alone = [WalkerEnvironments(family.walker(), [model], 1000) for model in models]
    data = [mujoco.MjData(model) for model in models]
    starts = together.starts([np.random.default_rng(row) for row in range(rows)])
    for environments in (together, shared):
        environments.reset(np.arange(rows), starts)
    for row, model in enumerate(models):
        alone[row].reset(np.array([0]), starts[row : row + 1])
        data[row].qpos[:] = model.qpos0 + starts[row, : model.nq]
        data[row].qvel[:] = starts[row, model.nq :]
        mujoco.mj_forward(model, data[row])
    random, limit = np.random.default_rng(0), together.action_space.limit
    for _ in range(30):
        action = random.uniform(-limit, limit, (rows, together.action_space.size))
        together.step(action, np.ones(rows, bool))
        shared.step(action, np.ones(rows, bool))
        for row, model in enumerate(models):
            alone[row].step(action[row : row + 1], np.array([True]))
            data[row].ctrl[:] = action[row]
            mujoco.mj_step(model, data[row], nstep=frames)
    for seen in ("observation", "reward", "terminated", "position", "speed"):
        one_by_one = np.concatenate([getattr(own, seen) for own in alone])
        np.testing.assert_array_equal(getattr(together, seen), one_by_one)
        np.testing.assert_array_equal(getattr(shared, seen), one_by_one)
    np.testing.assert_array_equal(together.position, [d.qpos for d in data])
    assert len(np.unique(together.observation, axis=0)) == rows


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_has_the_same_members_and_starts_in_any_block(name):
    family = FAMILIES[name]
    alone, among = family.draw([3]), family.draw([1, 3])
    for key, drawn in alone.items():
        np.testing.assert_array_equal(drawn[0], among[key][1])
    one, both = family.task(alone), family.task(among)
    begun = [
        evaluation_starts(task.environments(), seeds, 2, 3, at=5, first=0)
        for task, seeds in ((one, [3]), (both, [1, 3]))
    ]
    np.testing.assert_array_equal(begun[0][0], begun[1][1])
    seen = one.environments().observation_size
    assert one.observation_limit().shape == (seen,) and (one.observation_limit() > 0).all()
    assert both.training.shape == (2, 4) and both.held_out.shape == (2, 2)
    assert both.newcomers().agents == 2


@pytest.mark.parametrize("radius", [0.021, 0.04, 0.05])
def test_a_leg_has_the_radius_asked_for_and_its_mass(radius):
    family = FAMILIES["Hopper-v5"]
    model, plain = built(family.asset, family.edits(radius)), compiled(family.asset)
    assert model.geom("leg_geom").size[0] == radius
    heavier = model.body_mass - plain.body_mass
    leg = [1000 * np.pi * r**2 * (0.5 + 4 / 3 * r) for r in (0.04, radius)]
    assert heavier[model.body("leg").id] == pytest.approx(leg[1] - leg[0], rel=1e-9, abs=1e-12)
    assert np.flatnonzero(heavier).tolist() in ([], [model.body("leg").id])
    assert gap(model) == 0


@pytest.mark.parametrize("half_length", [0.15, 0.25, 0.4])
def test_a_longer_leg_stays_attached_and_stands_on_the_floor(half_length):
    family = Hopper(agents=1, low=0.15, high=0.4, size="half_length")
    model = built(family.asset, family.edits(half_length))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert gap(model) == 0
    foot = model.geom("foot_geom").id
    assert data.geom_xpos[foot, 2] == pytest.approx(0.1, abs=1e-12)  # as gymnasium's
    knee, ankle = (data.xanchor[model.joint(name).id] for name in ("leg_joint", "foot_joint"))
    assert knee[2] - ankle[2] == pytest.approx(2 * half_length, abs=1e-12)
    assert data.qpos[1] == data.xpos[model.body("torso").id, 2]
    if half_length == 0.25:  # gymnasium's file writes -0.7 as -0.70000000000000007
        np.testing.assert_allclose(model.body_pos, compiled(family.asset).body_pos, atol=1e-15)


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_thighs_have_the_lengths_asked_for_and_the_mass_stays(theta):
    family = FAMILIES["HalfCheetah-v5"]
    model = built(family.asset, family.edits(theta))
    for name, (short, long) in (("bthigh", BACK), ("fthigh", FRONT)):
        assert model.geom(name).size[1] == pytest.approx(short + theta * (long - short), rel=1e-15)
    assert model.body_mass.sum() == pytest.approx(14)
    np.testing.assert_allclose(model.body_mass, capsule_masses(model, 14.0))
    assert (gap(model) == 0) == (theta > 0)  # the paper's shortest thighs do not reach the joints


@pytest.mark.parametrize(
    "spoilt",
    [[Edit("geom.size", "leg_geom", 0, 0.031)], [Edit("geom.size", "foot_geom", 1, 0.2)]],
    ids=["another size", "another part"],
)
def test_a_model_that_is_not_as_asked_is_refused(spoilt):
    asked = [Edit("geom.size", "leg_geom", 0, 0.03)]
    with pytest.raises(PfedrlError, match="geom_size is not as asked"):
        check(compiled("hopper.xml", [*asked, *spoilt]), "hopper.xml", asked)


def test_a_model_of_another_weight_is_refused():
    model = compiled("hopper.xml")
    model.body_mass[2] *= 1.01
    with pytest.raises(PfedrlError, match="weigh"):
        check(model, "hopper.xml", [])


def test_bytes_that_are_no_model_are_explained():
    with pytest.raises(PfedrlError, match="another version of MuJoCo"):
        from_bytes(to_bytes(compiled("hopper.xml"))[100:])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(Hopper, {"low": -0.1, "high": 0.1}), (HalfCheetah, {"low": 0.0, "high": 1.1})],
)
def test_members_out_of_bounds_are_refused(kind, settings):
    with pytest.raises(ValueError, match=r"above 0|between 0 and 1"):
        kind(agents=1, **settings)


def test_it_goes_on_from_a_checkpoint_into_contact():
    """The solver's warm start is part of what is kept."""
    first, second = (original(FAMILIES["Hopper-v5"], 3) for _ in range(2))
    first.reset(np.arange(3), first.starts([np.random.default_rng(row) for row in range(3)]))
    everyone, random = np.ones(3, bool), np.random.default_rng(0)
    actions = random.uniform(-1, 1, (20, 3, 3))
    for action in actions[:10]:
        first.step(action, everyone)
    second.restore(copy.deepcopy(first.state()))
    np.testing.assert_array_equal(second.observation, first.observation)
    for action in actions[10:]:
        for environments in (first, second):
            environments.step(action, everyone)
    np.testing.assert_array_equal(second.batch.state, first.batch.state)
