"""DDPG on regulators, of which the best policy is known: it learns, and goes on after a kill."""

import copy
from functools import cache

import numpy as np
import pytest
import torch

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.ddpg.actor_critic import LAST
from pfedrl.algorithms.ddpg.ddpg import DDPG
from pfedrl.algorithms.ddpg.ddpg_avg import DDPGAvg
from pfedrl.algorithms.ddpg.per_ddpg_avg import PerDDPGAvg
from pfedrl.algorithms.ddpg.pfed_ddpg_rep import PFedDDPGRep
from pfedrl.core.recorder import Recorder
from pfedrl.envs.environments import episode_returns
from pfedrl.stack.loop import Control, train
from tests.plain.regulator import RegulatorTask, riccati_gain

ALGORITHMS = [DDPG, DDPGAvg, PerDDPGAvg, PFedDDPGRep]
MASSES = np.array([[0.7, 1.0, 1.4]])
TASK = RegulatorTask(MASSES, np.array([[1.2, 0.9]]))
SMALL = {
    "frames": 60, "local_steps": 10, "first_width": 16, "second_width": 12, "batch": 8,
    "buffer": 40, "warm_up": 20,
    "evaluation_episodes": 2,
}  # fmt: skip
LEARNING = {
    "frames": 1500, "local_steps": 50, "first_width": 64, "second_width": 48,
    "actor_rate": 5e-4, "critic_rate": 1e-3,
    "gamma": 0.95, "tau": 0.01, "buffer": 2000, "warm_up": 200,
}  # fmt: skip


@cache
def trained(algorithm):
    """After a whole run, and what it recorded."""
    steps = {"local_steps": 1} if algorithm is PFedDDPGRep else {}  # a step of each part in turn
    settings, seeds = algorithm(**LEARNING | steps), [1]
    learner, recorder = settings.learner(TASK, seeds), Recorder(seeds)
    train(learner, settings.exchange(TASK, seeds), settings.rounds(), recorder, Control(4))
    return learner, recorder.columns()


def scores(act):
    """Mean return of each member, from many starts."""
    starts = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    environments = TASK.evaluation(np.repeat(MASSES[0], 100))
    return episode_returns(environments, np.tile(starts, (3, 1)), act).reshape(3, 100).mean(1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_policies_come_near_the_best_of_each_member(algorithm):
    """Riccati's gain is the best; no action at all is the floor."""
    learner, _ = trained(algorithm)
    gains = np.repeat([riccati_gain(mass, 0.95) for mass in MASSES[0]], 100, axis=0)
    best = scores(lambda seen: -(gains * seen).sum(axis=1, keepdims=True))
    floor = scores(lambda seen: np.zeros((len(seen), 1)))
    found = scores(learner.policy(learner.weights))
    share = (found - floor) / (best - floor)
    assert share.mean() > 0.8 and (share > 0.5).all() and (share < 1.01).all(), share


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_critics_know_what_their_actors_will_get(algorithm):
    """The error of equation 56 is small beside the spread of returns."""
    _, columns = trained(algorithm)
    error = columns["value"][columns["metric"] == "value_error"]
    assert len(error) == 3 and (error < 0.05).all()


def test_what_is_shared_is_equal_after_an_exchange_and_the_rest_is_not():
    for algorithm, private in (
        (DDPG, "*"), (DDPGAvg, ""), (PerDDPGAvg, "embedding"), (PFedDDPGRep, "head")
    ):  # fmt: skip
        settings = algorithm(**SMALL)
        learner = settings.learner(TASK, [0])
        learner.advance(30)
        settings.exchange(TASK, [0])(learner.parts, 0)
        for name, part in learner.parts.items():
            alike = bool((part == part[:, :1]).all())
            assert alike != (private == "*" or name.endswith(private or "none")), (algorithm, name)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_goes_on_from_a_checkpoint_as_if_nothing_had_happened(algorithm):
    settings = algorithm(**SMALL, fresh_rounds=algorithm is DDPGAvg)
    whole, first, second = (settings.learner(TASK, [0]) for _ in range(3))
    exchange = settings.exchange(TASK, [0])
    for learner, rounds in ((whole, range(6)), (first, range(3))):
        for number in rounds:
            list(learner.measure())
            learner.advance(exchange.steps)
            exchange(learner.parts, number)
    second.restore(copy.deepcopy(first.state()))
    for number in range(3, 6):
        list(second.measure())
        second.advance(exchange.steps)
        exchange(second.parts, number)
    assert torch.equal(whole.weights, second.weights) and torch.equal(whole.target, second.target)
    for ours, theirs in zip(whole.measure(), second.measure(), strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values, err_msg=ours.metric)


def test_a_fresh_round_starts_with_nothing_but_the_nets():
    learner = DDPGAvg(**SMALL, fresh_rounds=True).learner(TASK, [0])
    learner.advance(30)
    assert (learner.target != learner.weights).any()
    weights = learner.weights.clone()
    learner.advance(19)  # not yet warm again
    assert torch.equal(learner.weights, weights) and torch.equal(learner.target, weights)
    np.testing.assert_array_equal(learner.experience.replay.size, 19)
    assert not learner.moments.any() and not learner.updates["all"].any()


def test_noise_is_an_ornstein_uhlenbeck_process_that_starts_with_the_episode():
    learner = DDPG(**SMALL | {"buffer": 500}, noise_pull=0.3, noise_spread=0.1).learner(TASK, [0])
    learner.weights[:] = 0.0  # the actor wants nothing
    learner.target[:] = 0.0
    experience, limit = learner.experience, learner.limit
    wanted, everyone = np.zeros((3, 1), np.float32), np.ones(3, bool)
    for _ in range(120):  # over two episodes of 50 steps
        experience.step(wanted, everyone)
    noise = experience.replay.kept.action[:, :120, 0] / limit
    drawn = experience.normals[:, 1:121, 0]  # the first place is the first start's
    expected = np.zeros(3)
    for t in range(120):
        expected = (0.0 if t % 50 == 0 else 0.7 * expected) + 0.1 * drawn[:, t]
        np.testing.assert_allclose(noise[:, t], expected, atol=1e-5)


def test_actions_stay_within_the_limit():
    learner = DDPG(**SMALL, noise_spread=5.0).learner(TASK, [0])
    learner.advance(30)
    action = learner.experience.replay.kept.action[:, :30]
    assert (abs(action) <= 2).all() and (abs(action) == 2).any()


def test_last_layers_start_small_and_agents_alike():
    learner = PerDDPGAvg(**SMALL).learner(TASK, [5])
    for who in ("actor", "critic"):
        head = learner.parts[f"{who}_head"]
        assert 0 < head.abs().max() <= LAST
        body = learner.parts[f"{who}_body"]
        assert (body == body[:, :1]).all() and body.abs().max() > 0.1
        own = learner.parts[f"{who}_embedding"]
        assert (own[:, 0] != own[:, 1]).all() and own.abs().max() <= 1
    assert (learner.parts["actor_embedding"] != learner.parts["critic_embedding"]).all()


def test_newcomers_train_what_their_way_says():
    learner, _ = trained(PerDDPGAvg)
    settings = PerDDPGAvg(
        **SMALL | {"first_width": 64, "second_width": 48}, adapt_frames=30
    ).adapting()
    for way, changes in (
        (Adaptation(("embedding",), "embedding"), {"embedding"}),
        (Adaptation((), "all"), {"embedding", "body", "head"}),
        (Adaptation((), "nothing"), set()),
    ):
        newcomers = learner.newcomers(settings, way)
        assert newcomers.shape == (1, 2)
        before = {name: part.clone() for name, part in newcomers.parts.items()}
        average = learner.stack.mean(1)[:, learner.net.part["actor_body"]]
        assert torch.equal(before["actor_body"][:, 0], average)
        newcomers.advance(30)
        for name, part in newcomers.parts.items():
            changed = bool((part != before[name]).any())
            assert changed == (name.split("_")[1] in changes), (way, name)


@pytest.mark.parametrize(("truncation_stops", "share"), [(False, 0), (True, 1)])
def test_a_time_limit_stops_the_bootstrap_only_where_asked(truncation_stops, share):
    settings = DDPG(**SMALL | {"buffer": 200}, truncation_stops=truncation_stops)
    learner = settings.learner(RegulatorTask(MASSES, MASSES[:, :0], cap=1), [0])
    learner.advance(60)
    learner.experience.sample(np.ones(3, bool))
    assert (learner.experience.replay.stops == share).all()
    assert learner.experience.replay.kept.truncated[:, :60].all()
    assert not learner.experience.replay.kept.terminated.any()
