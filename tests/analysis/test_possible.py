import numpy as np
import pytest

from pfedrl.analysis.possible import possible

CARTPOLE = {"name": "cartpole", "cap": 200}


@pytest.mark.parametrize(
    ("metric", "family", "bounds"),
    [
        ("training_return", CARTPOLE, (0, 200)),
        ("held_out_objective", CARTPOLE, (0, 200)),
        ("return_deviation", CARTPOLE, (0, np.inf)),
        ("episodes_to_solve", CARTPOLE, (0, np.inf)),
        ("reached_solve", CARTPOLE, (0, 1)),
        ("head_similarity_3", CARTPOLE, (-1, 1)),
        ("greedy_return", {"name": "acrobot", "cap": 500}, (-500, 0)),
        ("return", {"name": "reacher"}, (-np.inf, 0)),
        ("return", {"name": "figure_eight", "horizon": 1500}, (0, 1500)),
        ("objective", {"name": "windy_cliff"}, (-np.inf, np.inf)),
        ("G", {"name": "reacher"}, (-np.inf, np.inf)),
        ("margin", None, (-np.inf, np.inf)),
    ],
)
def test_bounds_follow_from_what_a_metric_is(metric, family, bounds):
    assert possible(metric, family) == bounds
