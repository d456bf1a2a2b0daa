"""Controls on Reacher and on Hoppers: what no learning scores."""

import numpy as np
import pytest

from pfedrl.core.registry import load
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.envs.mujoco.reacher import Reacher

SCORES = [("zero_action", -12.0), ("random_policy", -43.0), ("reaching_controller", -3.8)]


@pytest.mark.parametrize(("name", "score"), SCORES)
def test_scores(name, score):
    control = load("algorithms", name)()
    family = Reacher()
    learner = control.learner(family.task(family.draw([0, 1])), [0, 1])
    returns = {m.metric: m.values for m in learner.measure()}["return"]
    assert returns == pytest.approx([score, score], abs=0.5)


def test_the_controller_takes_back_each_clients_offset():
    control, scores = load("algorithms", "reaching_controller")(), []
    for noise in (0.0, 0.4):
        family = Reacher(action_noise=noise)
        learner = control.learner(family.task(family.draw([0])), [0])
        scores += [m.values[0] for m in learner.measure()]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "score", "within"), [("zero_action", 144.0, 8.0), ("random_policy", 17.5, 3.0)]
)
def test_on_hoppers_doing_nothing_stands_longer_than_acting_without_aim(name, score, within):
    """200 steps at most, legs as gymnasium's."""
    family = Hopper(agents=3, members=[0.04], low=0.04, high=0.04, new_members=[0.05])
    control = load("algorithms", name)()
    learner = control.learner(family.task(family.draw([0])), [0])
    found = {m.metric: m.values for m in learner.measure()}
    assert found["objective"] == pytest.approx([score], abs=within)
    assert set(found) == control.metrics(family)
    np.testing.assert_allclose(found["greedy_return"].mean(axis=1), found["objective"])
    assert found["adapt_greedy_return"].shape == (1, 1)
