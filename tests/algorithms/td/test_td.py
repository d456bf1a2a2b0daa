"""PFedTD-Rep, TD and FedTD against transcriptions of the paper's equations, one agent at a time."""

import pickle

import numpy as np
import pytest

from pfedrl.algorithms.td.fed_td import FedTD
from pfedrl.algorithms.td.pfedtd_rep import PFedTDRep
from pfedrl.algorithms.td.sampled import unit_rows
from pfedrl.algorithms.td.sampling import Uniforms, cumulative
from pfedrl.algorithms.td.td import TD
from pfedrl.envs.tabular.cliff_walking import CliffWalking
from pfedrl.envs.tabular.random_mdp import RandomMDP

STEPS = {"local_steps": 7, "alpha": 0.3, "alpha_power": 5 / 6}
REP = PFedTDRep(training_rounds=9, beta=0.2, beta_power=1.0, bound=1.5, dimension=3, **STEPS)
FAMILIES = [
    CliffWalking(gamma=0.9),
    RandomMDP(gamma=0.9, support=0.5, states=4, actions=2, agents=3),
]


def trajectory(learner, seed, agent, transitions):
    """The transitions (s, r, s', terminal) of one agent, sampled here on its own numbers."""
    walk, numbers = learner.chain, Uniforms([seed], agent + 1)
    own = cumulative(walk.probability)[0, agent]

    def chosen(sums, uniform):
        return int(np.searchsorted(sums, uniform, side="right"))

    restart = cumulative(walk.restart)
    state = chosen(restart[:-1], numbers.take(1)[0, agent, 0])
    seen = []
    for _ in range(transitions):
        happens, begins = numbers.take(2)[0, agent]
        outcome = chosen(own[state][:-1], happens)
        reached = int(walk.target[state, outcome])
        ended = bool(walk.terminal[reached])
        seen.append((state, float(walk.reward[0, state, outcome]), reached, ended))
        state = chosen(restart[:-1], begins) if ended else reached
    return seen


def transcription(learner, seed, rounds, algorithm):
    """Algorithm 2, lines 2 to 14, with equations (5) to (11), for one seed."""
    agents, gamma = learner.task.agents, learner.chain.gamma
    K, B = algorithm.local_steps, algorithm.bound
    seen = [trajectory(learner, seed, i, rounds * K) for i in range(agents)]
    Phi = unit_rows([seed], learner.task.states, algorithm.dimension)[0]
    theta = [np.zeros(algorithm.dimension) for _ in range(agents)]

    def delta(weights, features, X):  # (5)
        s, r, reached, ended = X
        return r + (0.0 if ended else gamma * features[reached] @ weights) - features[s] @ weights

    for t in range(rounds):
        alpha_t, beta_t = algorithm.alpha / (t + 2) ** (5 / 6), algorithm.beta / (t + 2)
        local = []
        for i in range(agents):
            X = seen[i][t * K : (t + 1) * K]
            for observation in X:  # (7) and (8)
                g = delta(theta[i], Phi, observation) * Phi[observation[0]]
                theta[i] = theta[i] + alpha_t * g
            if np.linalg.norm(theta[i]) > B:
                theta[i] = theta[i] * B / np.linalg.norm(theta[i])
            h = np.zeros_like(Phi)
            for observation in X:  # (10), summed over the K observations
                h[observation[0]] += delta(theta[i], Phi, observation) * theta[i]
            half = Phi + beta_t * h  # (9)
            local.append(half / np.linalg.norm(half, axis=1, keepdims=True))
        Phi = np.mean(local, axis=0)  # (11), after Algorithm 2's normalisation
    return Phi, np.stack(theta)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.label)
def test_pfedtd_rep_agrees_with_the_equations(family):
    seed, rounds = 5, 9
    learner = REP.learner(family.task(family.draw([seed])), [seed])
    Phi, theta = transcription(learner, seed, rounds, REP)
    exchange = REP.exchange(learner.task, [seed])
    for number in range(rounds):
        learner.advance(1)
        exchange(learner.parts, number)
    for agent in range(3):
        np.testing.assert_allclose(learner.features[0, agent], Phi, atol=1e-10, rtol=0)
    np.testing.assert_allclose(learner.weights[0], theta, atol=1e-10, rtol=0)
    assert (np.linalg.norm(theta, axis=1) <= 1.5 + 1e-12).all()


def test_gradient_signs_by_finite_differences():
    """g and h are minus the gradients of (6) with V-hat held constant, as (8) and (10) say."""
    rng = np.random.default_rng(0)
    theta, here, ahead = rng.normal(size=(3, 4))
    reward, gamma, step = 0.7, 0.9, 1e-6
    target = reward + gamma * ahead @ theta

    def loss(weights, features):
        return 0.5 * (features @ weights - target) ** 2

    error = target - here @ theta
    for entry in range(4):
        bump = step * np.eye(4)[entry]
        slope = (loss(theta + bump, here) - loss(theta - bump, here)) / (2 * step)
        assert -slope == pytest.approx(error * here[entry], rel=1e-6)
        slope = (loss(theta, here + bump) - loss(theta, here - bump)) / (2 * step)
        assert -slope == pytest.approx(error * theta[entry], rel=1e-6)


@pytest.mark.parametrize("kind", [TD, FedTD])
def test_td_and_fed_td_agree_with_a_plain_table(kind):
    family, seed, rounds = CliffWalking(gamma=0.9), 2, 6
    algorithm = kind(training_rounds=rounds, **STEPS)
    learner = algorithm.learner(family.task(family.draw([seed])), [seed])
    seen = [trajectory(learner, seed, i, rounds * 7) for i in range(3)]
    table = np.zeros((3, 48))
    for t in range(rounds):
        for i in range(3):
            for s, r, reached, ended in seen[i][t * 7 : (t + 1) * 7]:
                target = r + (0.0 if ended else 0.9 * table[i, reached])
                table[i, s] += 0.3 / (t + 2) ** (5 / 6) * (target - table[i, s])
        if kind is FedTD:
            table[:] = table.mean(axis=0)
    exchange = algorithm.exchange(learner.task, [seed])
    for number in range(rounds):
        learner.advance(1)
        exchange(learner.parts, number)
    np.testing.assert_allclose(learner.table[0], table, atol=1e-12)


def test_a_seed_learns_the_same_alone_and_in_a_block():
    family = FAMILIES[1]

    def trained(seeds):
        learner = REP.learner(family.task(family.draw(seeds)), seeds)
        exchange = REP.exchange(learner.task, seeds)
        for number in range(5):
            learner.advance(1)
            exchange(learner.parts, number)
        return learner.features

    np.testing.assert_array_equal(trained([3, 4, 5])[1], trained([4])[0])


def test_a_learner_goes_on_from_its_state():
    family = FAMILIES[0]

    def fresh():
        return REP.learner(family.task(family.draw([1])), [1])

    whole, first = fresh(), fresh()
    for _ in range(4):
        whole.advance(1)
    for _ in range(2):
        first.advance(1)
    kept = pickle.loads(pickle.dumps(first.state()))
    second = fresh()
    second.restore(kept)
    for _ in range(2):
        second.advance(1)
    np.testing.assert_array_equal(second.features, whole.features)
    np.testing.assert_array_equal(second.weights, whole.weights)


def test_td_finds_the_true_values_of_every_visited_state():
    family = CliffWalking(gamma=0.9)
    algorithm = TD(training_rounds=3000, local_steps=10, alpha=1.0, alpha_power=0.0)
    learner = algorithm.learner(family.task(family.draw([0])), [0])
    learner.advance(3000)
    visited = learner.visited
    np.testing.assert_allclose(learner.table[visited], learner.truth[visited], atol=1e-6)
