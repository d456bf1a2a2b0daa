"""The tabular families: their definitions, and that a seed's members do not depend on its block."""

import numpy as np
import pytest

from pfedrl.algorithms.tabular import kernels

FAMILIES = ("random_mdp", "windy_cliff")


def task_of(family, seeds=range(7)):
    return family.task(family.draw(seeds))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("around_centre", [False, True])
def test_transitions_are_distributions(tabular_family, name, around_centre):
    family = tabular_family(name, around_centre=around_centre, held_out=3)
    task = task_of(family)
    for members in (task.training, task.members.held_out, task.imaginary()):
        dense = task.dense(members)
        assert (dense >= 0).all()
        np.testing.assert_allclose(dense.sum(axis=-1), 1.0, atol=1e-12)
    assert task.training.shape[0] == 5
    assert task.members.held_out.shape[0] == 3


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_has_the_same_members_alone_and_in_a_block(tabular_family, name):
    family = tabular_family(name, around_centre=True, kappa=0.4, held_out=2)
    block, alone = task_of(family, range(5, 9)), task_of(family, [7])
    for part in ("training", "centre", "held_out"):
        np.testing.assert_array_equal(
            getattr(block.members, part)[..., 2:3], getattr(alone.members, part)
        )
    np.testing.assert_array_equal(block.reward[:, 2:3], alone.reward)


@pytest.mark.parametrize("name", FAMILIES)
def test_kappa_mixes_centre_and_noise(tabular_family, name):
    """(1-kappa) P_0 + kappa P_k, and the centre is the first of those trained on."""
    at = {
        kappa: task_of(tabular_family(name, around_centre=True, kappa=kappa))
        for kappa in (0.0, 0.3, 1.0)
    }
    mixed = 0.7 * at[0.0].training + 0.3 * at[1.0].training
    np.testing.assert_allclose(at[0.3].training, mixed, atol=1e-12)
    np.testing.assert_array_equal(at[0.3].training[:1], at[0.3].members.centre)
    np.testing.assert_allclose(
        at[0.0].training, np.repeat(at[0.0].members.centre, 5, axis=0), atol=1e-12
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_without_the_centre_all_training_members_are_noisy(tabular_family, name):
    family = tabular_family(name, around_centre=True, kappa=0.8, centre_trains=False)
    task = task_of(family)
    assert task.training.shape[0] == 5
    assert not any((member == task.members.centre[0]).all() for member in task.training)


def test_random_mdp_noise_has_the_complement_of_the_centre_as_support(tabular_family):
    task = task_of(tabular_family("random_mdp", around_centre=True), range(50))
    centre, noise = task.dense(task.members.centre), task.dense(task.training[1:])
    assert ((centre > 0) ^ (noise > 0)).all()
    support = (centre > 0).sum(axis=-1)
    assert support.min() >= 1 and support.max() <= 4
    # rows are Bernoulli(1/2) but for the repaired ones: mean support 2.5 of 5
    assert abs(support.mean() - 2.5) < 0.1


def test_random_mdp_independent_members_have_the_stated_support(tabular_family):
    task = task_of(tabular_family("random_mdp"), range(200))
    support = (task.dense(task.training) > 0).sum(axis=-1)
    # Binomial(5, .2), and one where it would be none: 1 + .8**5
    assert abs(support.mean() - (1 + 0.8**5)) < 0.03
    assert support.min() == 1


def test_windy_cliff_moves(tabular_family):
    """Walls, wind, cliff and goal, each by hand."""
    family = tabular_family("windy_cliff", agents=1)
    task = family.task({"theta": np.array([[0.6]])})
    step = task.dense(task.training)[0, 0]
    up, down, left, right = range(4)
    assert step[0, up, 4] == pytest.approx(0.8) and step[0, up, 0] == pytest.approx(0.2)
    assert step[0, right, 1] == pytest.approx(0.8) and step[0, right, 0] == pytest.approx(0.2)
    assert step[0, left, 0] == 1.0 and step[0, down, 0] == 1.0
    assert step[9, down, 5] == 1.0
    assert step[9, right, 10] == pytest.approx(0.8) and step[9, right, 5] == pytest.approx(0.2)
    assert step[15, up, 15] == pytest.approx(0.8) and step[15, up, 11] == pytest.approx(0.2)
    for state in (1, 2, 3):  # two cells of cliff and the goal
        for action in range(4):
            assert step[state, action, 0] == 1.0
    reward = task.reward[:, 0].reshape(16, 4)
    assert (reward[0] == -1).all() and (reward[1:3] == -100).all() and (reward[3] == 100).all()
    assert (reward[4:] == -1).all()


def test_windy_cliff_optimum_at_half_wind(tabular_family):
    """133.9651 from the start, known from an independent solution."""
    family = tabular_family("windy_cliff", around_centre=True)
    task = task_of(family, range(1))
    tables = kernels.optimal_tables(
        task.reward, task.members.centre, task.successors, task.actions, task.gamma, 1e-10
    )
    assert tables[0, :4, 0].max() == pytest.approx(133.9651, abs=5e-5)


def test_score_is_in_the_authors_units(tabular_family):
    task = task_of(tabular_family("random_mdp"))
    assert task.score(np.array([0.5 / (1 - 0.9)])) == pytest.approx(0.0)
    assert task.score(np.array([6.0])) == pytest.approx(10.0)
