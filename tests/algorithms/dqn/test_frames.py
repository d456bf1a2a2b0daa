"""DQN counted in frames, on Hoppers with a grid of actions: PFedRL-Rep's baselines there."""

import numpy as np
import pytest
from pydantic import ValidationError

from pfedrl.algorithms.dqn.dqn import DQN
from pfedrl.algorithms.dqn.fed_asynq_imavg import FedAsynQImAvgNet
from pfedrl.algorithms.dqn.fedq_k import FedQK
from pfedrl.algorithms.dqn.lfrl import LFRL
from pfedrl.core.recorder import Recorder
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.stack.loop import Control

SETTINGS = {
    "frames": 50, "local_steps": 20, "unit": "step", "layers": 1, "width": 8, "batch": 8,
    "learning_rate": 0.002, "gamma": 0.98, "epsilon": 0.1, "buffer": 100, "warm_up": 10,
    "target_every": 10, "evaluation_episodes": 1, "adapt_frames": 30,
}  # fmt: skip
FAMILY = Hopper(agents=2, low=0.03, high=0.05, new_members=[0.06], cap=12, evaluation_cap=8)


@pytest.mark.parametrize("algorithm", [FedQK, LFRL, FedAsynQImAvgNet])
def test_training_ends_with_its_frames_and_is_looked_at_after_whole_rounds(algorithm):
    server = {} if algorithm is FedQK else {"server_states": 8, "server_fits": 2}
    settings, recorder = algorithm(**SETTINGS, **server), Recorder([0])
    settings.run([0], FAMILY, FAMILY.draw([0]), recorder, Control(curve_points=10))
    columns = recorder.columns()
    own = columns["metric"] == "greedy_return"
    assert set(columns["axis"]) == {"frame"}
    np.testing.assert_array_equal(np.unique(columns["at"][own]), [0, 20, 40, 50])
    assert columns["at"][columns["metric"] == "adapt_greedy_return"].max() == 30
    assert set(columns["metric"]) == settings.metrics(FAMILY)


def test_training_returns_are_those_of_the_episodes_since_the_last_look():
    algorithm = LFRL(**SETTINGS, server_states=8, server_fits=2)
    task = algorithm.seen(FAMILY.task(FAMILY.draw([0])))
    learner = algorithm.learner(task, [0])
    learner.marks = np.array([20, 40])
    found = []
    for _ in range(2):
        learner.advance(20)
        found.append({m.metric: m.values for m in learner.measure()})
    episodes = learner.experience.episodes
    assert (episodes.done >= 3).all()  # of at most 12 steps
    np.testing.assert_allclose(found[1]["return_average"][0], episodes.summed / episodes.done)
    both = [np.nansum(each["training_return"][0]) > 0 for each in found]
    assert all(both)
    middle = found[0]["training_return"] - found[1]["return_average"]
    later = found[1]["training_return"] - found[1]["return_average"]
    assert (middle * later <= 1e-12).all(), "the mean of all lies between those of both halves"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 5}, "give one of them"),
        ({"frames": 0}, "give one of them"),
        ({"unit": "episode"}, "unit must be step"),
    ],
)
def test_a_length_is_given_once(changes, message):
    with pytest.raises(ValidationError, match=message):
        LFRL(**SETTINGS | changes)


def test_who_needs_frames_says_so():
    reason = LFRL(**SETTINGS | {"frames": 0, "episodes": 5}).skip(FAMILY)
    assert reason is not None and "frames" in reason
    assert LFRL(**SETTINGS).skip(FAMILY) is None
    assert "classic_control" in str(DQN(**SETTINGS).skip(FAMILY))
