"""FedAvg, FedProx, FMARL and FedKL on a tiny budget: they train, repeat, and stack."""

import numpy as np
import pytest

from pfedrl.algorithms.ppo_kl.learner import FIRST_RETRIED_ROUND
from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import load
from pfedrl.envs.mujoco.reacher import Reacher
from pfedrl.stack.loop import Control, train

BUDGET = {
    "learning_rate": 1e-3, "d_local": 1e-2, "communication_rounds": 2, "local_iterations": 2,
    "episodes": 3, "evaluation_episodes": 2, "critic_epochs": 2, "policy_epochs": 2,
    "policy_hidden": (8,), "critic_hidden": (8,),
}  # fmt: skip
OWN = {"fed_avg": {}, "fed_prox": {"mu": 0.02}, "fmarl": {}, "fed_kl": {"d_global": 0.6}}
FAMILY = Reacher(target_cells=True, action_noise=0.4, horizon=10)


def curves(name, seeds, family=FAMILY, **settings):
    """Every recorded metric as {(round, metric): [seed] or [seed, agent]}."""
    algorithm = load("algorithms", name)(**{**BUDGET, **OWN[name], **settings})
    task = family.task(family.draw(seeds))
    learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
    recorder = Recorder(seeds)
    train(learner, exchange, algorithm.rounds(), recorder, Control(curve_points=99))
    return {(at, metric): values for _, at, metric, values, _ in recorder.state()}, learner


@pytest.mark.parametrize("name", OWN)
def test_trains_and_repeats(name):
    found, learner = curves(name, [0, 1])
    again, _ = curves(name, [0, 1])
    assert {at for at, _ in found} == {0, 1, 2}
    for key, values in found.items():
        np.testing.assert_array_equal(values, again[key])
    assert np.isfinite(found[2, "return"]).all()
    assert (found[0, "return"] != found[2, "return"]).all()
    assert (learner.policy == learner.policy[:, :1]).all()  # all hold the server's model


def test_a_seed_gets_the_same_numbers_alone():
    together, _ = curves("fed_kl", [3, 5], measure_heterogeneity=True)
    alone, _ = curves("fed_kl", [5], measure_heterogeneity=True)
    for key, values in alone.items():
        np.testing.assert_array_equal(together[key][1], values[0])


def test_early_rounds_are_left_out_of_late_gains():
    found, learner = curves(
        "fed_kl", [0], measure_heterogeneity=True, communication_rounds=5, local_iterations=1
    )
    history = np.stack(learner.returns)[:, 0]
    negative = np.stack(learner.selected_levels)[:-1, 0] < 0
    assert found[5, "late_negative_rounds"] == negative[3:].sum()
    for sign, rounds in (("negative", negative), ("positive", ~negative)):
        gains = np.diff(history)[3:][rounds[3:]]
        expected = gains.mean() if len(gains) else np.nan
        np.testing.assert_allclose(found[5, f"late_gain_where_{sign}"], expected)


def test_goes_on_from_a_checkpoint():
    algorithm = load("algorithms", "fed_kl")(**BUDGET, **OWN["fed_kl"])
    task = FAMILY.task(FAMILY.draw([0]))
    exchange = algorithm.exchange(task, [0])

    def one_round(learner):
        learner.observe()
        learner.advance(exchange.steps)
        exchange(learner.parts, learner.round - 1)

    whole, first, second = (algorithm.learner(task, [0]) for _ in range(3))
    for learner in (whole, whole, first):
        one_round(learner)
    second.restore(first.state())
    one_round(second)
    assert (whole.policy == second.policy).all()
    assert (whole.critic == second.critic).all()
    np.testing.assert_array_equal(whole.c2, second.c2)


def test_all_algorithms_select_the_same_agents():
    learners = [curves(name, [0, 1])[1] for name in ("fed_avg", "fed_kl")]
    for number in range(3):
        chosen = learners[0].selection(number)
        np.testing.assert_array_equal(chosen, learners[1].selection(number))
        assert chosen.shape == (2, 3)


def test_only_selected_agents_send_and_what_they_send_is_counted():
    found, learner = curves("fed_kl", [0, 1])
    # policy and critic in single precision, c1 and c2 in double
    each = 4 * (learner.rule.policy.columns + learner.rule.critic.columns)
    times = np.zeros((2, learner.source.agents))
    for number in range(2):
        for seed, chosen in enumerate(learner.selection(number)):
            times[seed, chosen] += 1
    np.testing.assert_allclose(found[2, "megabytes_sent"], times * (each + 16) / 1e6)


def test_untrained_clients_act_randomly_only_if_asked():
    """Half of the actions in [0,1) cost less than those of the initial policy."""
    plain, _ = curves("fed_avg", [0], Reacher())
    artefact, learner = curves("fed_avg", [0], Reacher(), untrained_act_randomly=True)
    assert artefact[0, "return"][0] > 0.8 * plain[0, "return"][0]
    untouched = learner.trained[0] == 0
    last = learner.client_returns[0]
    assert last[untouched].mean() > last[~untouched].mean()


def test_a_collapsed_agent_starts_over():
    algorithm = load("algorithms", "fed_avg")(**BUDGET)
    learner = algorithm.learner(FAMILY.task(FAMILY.draw([0])), [0])
    learner.observe()
    learner.returns[-1][:] = -1e-3  # nobody reaches twice that
    learner.round = 4
    learner.advance(1)
    assert learner.retries.tolist() == [3 * 5]
    assert (learner.trained.sum(), learner.round) == (3 * 6, 5)


def after_a_retry(seeds, number):
    """A learner after a round in which the first agent selected fails once, in every seed."""
    algorithm = load("algorithms", "fed_kl")(**BUDGET, **OWN["fed_kl"])
    learner = algorithm.learner(FAMILY.task(FAMILY.draw(seeds)), seeds)
    learner.observe()
    learner.round = number
    stacks, train = [], learner.train

    def failing(server, steps, seed, agent, attempt, bar):
        stacks.append(len(agent))
        train(server, steps, seed, agent, attempt, bar)
        return (agent == learner.selection(number)[seed, 0]) & (attempt == 0)

    learner.train = failing
    learner.advance(1)
    return learner, stacks


def test_a_retry_that_leaves_one_agent_is_the_same_among_others():
    alone, stacks = after_a_retry([5], FIRST_RETRIED_ROUND)
    assert stacks == [3, 1]
    assert alone.retries.tolist() == [1]
    among, stacks = after_a_retry([5, 6], FIRST_RETRIED_ROUND)
    assert stacks == [6, 2]
    assert among.retries.tolist() == [1, 1]
    for name in ("policy", "critic", "c1", "c2", "first", "second", "trained"):
        own, together = np.asarray(getattr(alone, name)), np.asarray(getattr(among, name))
        np.testing.assert_array_equal(own[0], together[0], err_msg=name)


def test_early_rounds_are_not_retried():
    learner, stacks = after_a_retry([5], FIRST_RETRIED_ROUND - 1)
    assert stacks == [3]
    assert learner.retries.tolist() == [0]


def test_own_coefficients_stay_with_their_agent():
    _, learner = curves("fed_kl", [0], average_coefficients=False)
    assert not (learner.c2 == learner.c2[:, :1]).all()
    _, averaged = curves("fed_kl", [0])
    assert (averaged.c2 == averaged.c2[:, :1]).all()


@pytest.mark.parametrize(
    ("name", "settings", "pull"),
    [
        ("fed_prox", {"extra_half": True}, {"proximal": 0.01}),
        ("fed_prox", {"extra_half": False}, {"proximal": 0.02}),
        ("fmarl", {"count_tensors": False}, {"decay_counts_tensors": False}),
        ("fed_kl", {"half_kl": True}, {"share": 0.5}),
        ("fed_kl", {}, {"share": 1.0}),
    ],
)
def test_switches(name, settings, pull):
    algorithm = load("algorithms", name)(**BUDGET, **OWN[name], **settings)
    for key, value in pull.items():
        assert getattr(algorithm.pull(), key) == value
