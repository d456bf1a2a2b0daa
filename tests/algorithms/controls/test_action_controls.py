"""Controls on Reacher: what no learning scores."""

import pytest

from pfedrl.core.registry import load
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
