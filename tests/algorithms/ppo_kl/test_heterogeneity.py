"""The estimator of D, A, B and G against the exact matrices of tabular MDPs."""

import numpy as np
import pytest

from pfedrl.algorithms.ppo_kl.heterogeneity import (
    above_floor,
    heterogeneity,
    levels,
    numbered,
    shuffled,
    steps_in_episode,
)
from pfedrl.envs.experience import Experience

STATES, ACTIONS, AGENTS, GAMMA = 4, 3, 3, 0.8


def mdps(random, differ):
    """Transitions [agent, s, a, s'], a policy [s, a], rewards [s, a], and a start state."""
    moves = random.dirichlet(np.ones(STATES), size=(AGENTS, STATES, ACTIONS))
    if not differ:
        moves[:] = moves[0]
    policy = random.dirichlet(2 * np.ones(ACTIONS), size=STATES)
    return moves, policy, random.normal(size=(STATES, ACTIONS))


def exact(moves, policy, reward):
    """||D A||, ||D B|| and G of every agent, from the definition (Equations 8, 17 and 20)."""
    products = []
    for move in moves:
        chain = np.einsum("sa,sat->st", policy, move)
        visits = np.linalg.solve(np.eye(STATES) - GAMMA * chain.T, np.eye(STATES)[0])
        value = np.linalg.solve(np.eye(STATES) - GAMMA * chain, (policy * reward).sum(axis=1))
        advantage = reward + GAMMA * move @ value - value[:, None]
        products.append((1 - GAMMA) * visits[:, None] * advantage)
    products = np.stack(products)
    potential = np.linalg.norm(products, axis=(1, 2))
    distance = np.linalg.norm(products.mean(axis=0) - products, axis=(1, 2))
    return {"potential": potential, "heterogeneity": distance, "G": potential - distance}


def sampled(random, moves, policy, reward, episodes=5000, horizon=30):
    """Bins, weights and one-step advantages (with the exact value) of sampled episodes."""
    states = np.zeros((AGENTS, horizon, episodes), dtype=int)
    actions, advantages = np.zeros_like(states), np.zeros(states.shape)
    for n, move in enumerate(moves):
        chain = np.einsum("sa,sat->st", policy, move)
        value = np.linalg.solve(np.eye(STATES) - GAMMA * chain, (policy * reward).sum(axis=1))
        state = np.zeros(episodes, dtype=int)
        for t in range(horizon):
            draw = random.random((2, episodes, 1))
            action = (policy[state].cumsum(axis=1) < draw[0]).sum(axis=1)
            following = (move[state, action].cumsum(axis=1) < draw[1]).sum(axis=1)
            states[n, t], actions[n, t] = state, action
            advantages[n, t] = reward[state, action] + GAMMA * value[following] - value[state]
            state = following
    weights = np.broadcast_to((GAMMA ** np.arange(horizon))[:, None], states.shape)
    flat = (AGENTS, horizon * episodes)
    return (
        states.reshape(*flat, 1), actions.reshape(*flat, 1),
        weights.reshape(flat), advantages.reshape(flat),
    )  # fmt: skip


@pytest.mark.parametrize("differ", [True, False])
def test_the_estimate_approaches_the_exact_level(differ):
    random = np.random.default_rng(7)
    moves, policy, reward = mdps(random, differ)
    truth = exact(moves, policy, reward)
    found = levels(*sampled(random, moves, policy, reward))
    for name, values in truth.items():
        np.testing.assert_allclose(found[name], values, atol=0.03 * truth["potential"].max())
    if not differ:  # Definition I: no heterogeneity in the iid case
        np.testing.assert_allclose(truth["heterogeneity"], 0, atol=1e-12)


def lived_and_advantages(random, moves, policy, reward, episodes, horizon=30):
    """The same sample as experience whose episodes follow one another."""
    columns = sampled(random, moves, policy, reward, episodes, horizon)
    states, actions, _, advantages = (
        column.reshape(AGENTS, horizon, episodes, *column.shape[2:]).swapaxes(1, 2)
        for column in columns
    )  # [agent, episode, time]
    ends = np.broadcast_to(np.arange(horizon) == horizon - 1, (AGENTS, episodes, horizon))
    flat = (AGENTS, episodes * horizon)
    lived = Experience(
        states.reshape(*flat, 1), actions.reshape(*flat, 1) / 10.0, np.zeros(flat),
        ends.reshape(flat),
    )  # fmt: skip
    return lived, advantages.reshape(flat)


def measured(differ, samples=200, episodes=20):
    """Exact levels, and mean squares over small samples of the same tasks."""
    random = np.random.default_rng(7)
    tasks = mdps(random, differ)
    found = [
        heterogeneity(*lived_and_advantages(random, *tasks, episodes), GAMMA, 30, [random])
        for _ in range(samples)
    ]
    squares = {name: np.mean([level[name] ** 2 for level in found]) for name in found[0]}
    return {name: np.mean(level**2) for name, level in exact(*tasks).items()}, squares


def test_identical_clients_show_their_floor_and_nothing_above_it():
    truth, squares = measured(differ=False)
    assert truth["heterogeneity"] < 1e-12 < squares["heterogeneity"]
    assert squares["floor"] == pytest.approx(squares["heterogeneity"], rel=0.15)


def test_without_its_noise_a_small_sample_shows_the_exact_levels():
    for differ in (False, True):
        truth, squares = measured(differ)
        noise = squares["floor"]
        distance = squares["heterogeneity"] - noise
        potential = squares["potential"] - noise * AGENTS / (AGENTS - 1)
        assert distance == pytest.approx(truth["heterogeneity"], abs=0.3 * noise)
        assert potential == pytest.approx(truth["potential"], abs=0.75 * noise)


def test_above_the_floor_squares_are_subtracted():
    level = {
        "potential": np.array([[5.0, 5.0]]),
        "heterogeneity": np.array([[3.0, 3.0]]),
        "floor": np.array([[2.0, np.sqrt(2.0)]]),
    }
    found = above_floor(level)
    assert found["heterogeneity_above_floor"] == pytest.approx(np.sqrt(9 - 3))
    assert found["potential_above_floor"] == pytest.approx(np.sqrt(25 - 2 * 3))
    assert found["G_above_floor"] == pytest.approx(np.sqrt(19) - np.sqrt(6))


def test_shuffling_deals_whole_blocks():
    steps = np.arange(24).reshape(2, 12)
    dealt, again = shuffled([steps, -steps], 4, np.random.default_rng(0))
    assert sorted(dealt[:, ::4].reshape(-1)) == [0, 4, 8, 12, 16, 20]
    assert (np.diff(dealt.reshape(2, 3, 4)) == 1).all() and (again == -dealt).all()


def test_pairs_others_saw_are_predicted():
    """Two agents in one state that saw different actions; the advantage is linear in the action."""
    states = np.zeros((2, 60, 1), dtype=int)
    actions = np.stack([np.resize([0, 2, 4], 60), np.resize([0, 1, 3, 4], 60)])[..., None]
    found = levels(states, actions, np.ones((2, 60)), actions[..., 0] - 2.0)
    np.testing.assert_allclose(found["potential"], np.linalg.norm([-2, -1, 0, 1, 2]), rtol=0.02)
    np.testing.assert_allclose(found["heterogeneity"], 0, atol=0.05)


def test_rows_are_numbered_by_what_they_hold():
    rows = np.array([[1, -2], [0, 0], [1, -2], [-2, 1]])
    number, example = numbered(rows, with_example=True)
    assert number[0] == number[2] and len(set(number)) == 3
    np.testing.assert_array_equal(rows[example][number], rows)


def test_steps_restart_with_the_episode():
    ends = np.array([[False, False, True, False, True, False]])
    assert steps_in_episode(ends).tolist() == [[0, 1, 2, 0, 1, 0]]
