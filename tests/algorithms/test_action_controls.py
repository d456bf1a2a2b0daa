"""Controls on Reacher: what no learning scores."""

import pytest

from pfedrl.envs.reacher import Reacher
from pfedrl.registry import load


@pytest.mark.parametrize(("name", "score"), [("zero_action", -12.0), ("random_action", -43.0)])
def test_scores(name, score):
    control = load("algorithms", name)()
    family = Reacher()
    learner = control.learner(family.task(family.draw([0, 1])), [0, 1])
    returns = {m.metric: m.values for m in learner.measure()}["return"]
    assert returns == pytest.approx([score, score], abs=0.5)
