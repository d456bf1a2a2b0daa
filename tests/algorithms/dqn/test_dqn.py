"""DQN on the stack: alike twice, after a restart; a replica may diverge."""

import copy
from itertools import count

import numpy as np
import pytest
import torch

from pfedrl.algorithms.dqn.dqn import DQN
from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
from pfedrl.algorithms.dqn.lfrl import LFRL
from pfedrl.algorithms.dqn.measures import DQNLook, training_returns
from pfedrl.algorithms.dqn.pfed_dqn_rep import PFedDQNRep
from pfedrl.core.recorder import Recorder
from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.stack.loop import Control, train

STEPS = {
    "episodes": 12, "local_steps": 5, "unit": "step", "layers": 2, "width": 16, "batch": 8,
    "learning_rate": 0.002, "halve_every": 5, "gamma": 0.98, "epsilon": 0.1, "buffer": 200,
    "warm_up": 20, "target_every": 10,
}  # fmt: skip
ROUNDS = STEPS | {
    "local_steps": 3, "unit": "episode", "layers": 1, "epsilon": 1.0, "epsilon_decay": 0.99,
    "fresh_rounds": True,
}  # fmt: skip
FAMILY = CartPole(agents=3, low=0.2, high=0.8, held_out=2, cap=50)


def learner_of(algorithm, seeds, family=FAMILY):
    return algorithm.learner(family.task(family.draw(seeds)), seeds)


def trained(algorithm, seeds, family=FAMILY):
    learner = learner_of(algorithm, seeds, family)
    exchange, number = algorithm.exchange(learner.task, seeds), 0
    while not learner.finished.all():
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
        number += 1
    return learner


@pytest.mark.parametrize("settings", [STEPS, ROUNDS], ids=["steps", "episodes"])
@pytest.mark.parametrize("algorithm", [DQN, DQNAvg])
def test_training_twice_is_equal(algorithm, settings):
    first, second = (trained(algorithm(**settings), range(2)) for _ in range(2))
    np.testing.assert_array_equal(
        first.experience.episodes.returns, second.experience.episodes.returns
    )
    np.testing.assert_array_equal(first.weights.numpy(), second.weights.numpy())
    assert np.isfinite(first.experience.episodes.returns).all()


@pytest.mark.parametrize(
    "algorithm",
    [DQNAvg(**STEPS), DQNAvg(**ROUNDS), LFRL(**STEPS, server_states=16, server_fits=3)],
    ids=["steps", "episodes", "with a server"],
)
def test_goes_on_from_a_checkpoint_as_if_nothing_had_happened(algorithm):
    def go_on(rounds, kept=({}, {})):
        learner = learner_of(algorithm, range(2))
        exchange = algorithm.exchange(learner.task, range(2))
        for own, state in zip((learner, exchange), kept, strict=True):
            if state:
                own.restore(state)
        for number in rounds:
            if learner.finished.all():
                break
            learner.advance(exchange.steps)
            exchange(learner.parts, number)
        return learner, exchange

    whole, _ = go_on(count())
    kept = copy.deepcopy([half.state() for half in go_on(range(2))])
    second, _ = go_on(count(2), kept)
    np.testing.assert_array_equal(whole.weights.numpy(), second.weights.numpy())
    np.testing.assert_array_equal(
        whole.experience.episodes.returns, second.experience.episodes.returns
    )


def test_a_replica_that_diverges_ends_there_and_the_others_go_on():
    algorithm = DQN(**STEPS)
    learner = learner_of(algorithm, range(2))
    learner.weights[1] = float("nan")  # the second agent of the first seed
    recorder = Recorder(range(2))
    exchange = algorithm.exchange(learner.task, range(2))
    train(learner, exchange, algorithm.rounds(), recorder, Control())
    columns = recorder.columns()
    diverged = columns["value"][columns["metric"] == "diverged"]
    np.testing.assert_array_equal(diverged, [0, 1, 0, 0, 0, 0])
    average = columns["value"][columns["metric"] == "return_average"]
    np.testing.assert_array_equal(np.isnan(average), [False, True, False, False, False, False])
    others = trained(algorithm, range(2)).experience.episodes.returns
    np.testing.assert_allclose(
        np.delete(learner.experience.episodes.returns, 1, 0), np.delete(others, 1, 0)
    )


def test_replay_returns_what_was_stored():
    """Each sampled transition is one the environment makes: s' is the step from s by a."""
    learner = trained(DQN(**STEPS), [0])
    experience = learner.experience
    batch = experience.sample(np.ones(3, bool))
    state = batch.seen.astype(float).reshape(-1, 4)
    parameters = np.repeat(experience.environments.parameters, batch.action.shape[1], axis=0)
    reward, terminal = np.zeros(len(state), np.float32), np.zeros(len(state), bool)
    experience.environments.physics.step(
        state, batch.action.ravel(), parameters, np.ones(len(state), bool), reward, terminal
    )
    np.testing.assert_allclose(state, batch.following.reshape(-1, 4), atol=1e-5)
    np.testing.assert_array_equal(reward, batch.reward.ravel())


@pytest.mark.parametrize("warm_up", [1, 3])
@pytest.mark.parametrize("algorithm", [DQNAvg, PFedDQNRep])
def test_targets_of_short_rounds_are_copied_after_an_exchange(algorithm, warm_up):
    """PFedRL-Rep, Algorithm 4: the average is line 15, the copy line 18."""
    settings = algorithm(**STEPS | {"warm_up": warm_up, "target_every": 10, "episodes": 100})
    learner = learner_of(settings, [0])
    exchange = settings.exchange(learner.task, [0])
    start = learner.target.clone()
    while learner.updates[learner.phases[0]].min() < 10:
        assert torch.equal(learner.target, start)
        learner.advance(settings.local_steps)
        exchange(learner.parts, 0)
    averaged = learner.weights.clone()
    for _ in range(2):  # the copy is due, and the next one ten updates later
        learner.advance(settings.local_steps)
        torch.testing.assert_close(learner.target, averaged, rtol=0, atol=0)
        exchange(learner.parts, 0)
    learner.advance(settings.local_steps)
    assert not torch.equal(learner.target, averaged)


def test_targets_of_long_rounds_are_copied_within_them():
    settings = DQN(**STEPS | {"warm_up": 1, "target_every": 4, "local_steps": 20})
    learner = learner_of(settings, [0])
    learner.advance(20)
    np.testing.assert_array_equal(learner.copied, 16)


def test_the_rate_halves_by_each_agents_own_episodes():
    learner = learner_of(DQN(**STEPS), [0])
    learner.experience.episodes.done[:] = (0, 5, 11)
    np.testing.assert_allclose(learner._rate(), [0.002, 0.001, 0.0005])


def test_marks_are_reached_by_the_agents_mean_over_ten_episodes():
    learner = learner_of(DQN(**STEPS | {"episodes": 30}), range(3))
    returns = learner.experience.episodes.returns.reshape(3, 3, 30)
    returns[0] = np.arange(30) * [[1], [2], [3]]  # the mean over agents is twice the episode
    returns[1] = 10
    returns[2] = 50
    returns[2, 1] = np.nan  # diverged
    found = {m.metric: m.values for m in training_returns(DQNLook.of(learner, np.arange(3), 30))}
    # of the cap of 50: episodes 8 to 17 have the mean 25; 20 to 29 have 49, and 48.75 is asked for
    np.testing.assert_array_equal(found["episodes_to_half"], [18, 30, np.nan])
    np.testing.assert_array_equal(found["reached_half"], [1, 0, 0])
    np.testing.assert_array_equal(found["episodes_to_solve"], [30, 30, np.nan])
    np.testing.assert_array_equal(found["reached_solve"], [1, 0, 0])


def looks(measurements, metric="greedy_return"):
    """(seed's row, mark) to the values."""
    found = [m for m in measurements if m.metric == metric]
    return {
        (int(row), m.at): values
        for m in found
        for row, values in zip(np.arange(2) if m.rows is None else m.rows, m.values, strict=True)
    }


def test_marks_jumped_in_one_round_are_all_looked_at():
    learner = learner_of(DQN(**STEPS), range(2))
    learner.marks = np.array([2, 3, 12])
    learner.experience.episodes.done[:] = (5, 7, 6, 2, 9, 4)  # of a seed its slowest agent counts
    found = looks(learner.measure())
    assert set(found) == {(0, 2), (0, 3), (1, 2)}
    assert looks(learner.measure()) == {}
    learner.experience.episodes.done[3:] = 3
    assert set(looks(learner.measure())) == {(1, 3)}


def curve(seeds, diverged=()):
    """A run that is looked at after 4, 8 and 12 episodes; some seeds are lost from the start."""
    algorithm = DQN(**STEPS)
    learner = learner_of(algorithm, seeds)
    learner.marks = np.array([4, 8, 12])
    for row in diverged:
        learner.weights[3 * row : 3 * row + 3] = float("nan")
    recorder = Recorder(seeds)
    exchange = algorithm.exchange(learner.task, seeds)
    train(learner, exchange, algorithm.rounds(), recorder, Control())
    return recorder.columns()


def test_a_seed_that_diverged_has_a_curve_without_values_and_leaves_the_others_theirs():
    found, alone = curve(range(2), diverged=[1]), curve(range(1))
    lost = found["seed"] == 1
    for metric, value in (("greedy_return", np.nan), ("diverged", 1.0)):
        rows = lost & (found["metric"] == metric)
        np.testing.assert_array_equal(found["at"][rows], np.repeat([4, 8, 12], 3))
        np.testing.assert_array_equal(found["value"][rows], value)
    for column in alone:
        np.testing.assert_array_equal(found[column][~lost], alone[column], err_msg=column)


def test_acrobot_learns_in_its_own_observations():
    family = Acrobot(agents=2, low=-0.3, high=0.3, cap=40)
    learner = trained(DQN(**STEPS), range(2), family)
    assert learner.experience.environments.observation.shape == (4, 6)
    assert (learner.experience.episodes.returns >= -40).all()
