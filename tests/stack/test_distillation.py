"""Distillation: the server learns the weighted labels, and agents receive its net."""

import numpy as np
import torch

from pfedrl.stack.distillation import ByCellVisits, Distillation, Grid, by_confidence
from pfedrl.stack.nets import Perceptron

NET = Perceptron(2, 8, 2)
SEEDS, AGENTS = [4, 9], 3


def distillation(weighting, seeds=SEEDS, fits=300):
    def sampler(generators):
        return np.stack([g.uniform(-1, 1, (32, 2)) for g in generators]).astype(np.float32)

    return Distillation(seeds, NET, 5, sampler, weighting, fits, 0.01)


def agents(seed=0):
    """Nets that differ, as parts."""
    rows = np.random.default_rng(seed).normal(size=(len(SEEDS), AGENTS, NET.columns)) / 2
    stack = torch.tensor(rows, dtype=torch.float32)
    return {name: stack[:, :, NET.part[name]] for name in ("body", "head")}, stack


def only_the_first(values, seen, parts):
    weights = torch.zeros(*values.shape[:3], 1)
    weights[:, 0] = 1.0
    return weights


def test_everyone_receives_one_net_that_says_what_the_labels_say():
    (parts, stack), states = agents(), torch.rand(1, 64, 2) * 2 - 1
    teacher = NET.outputs(stack[:, 0].clone(), states.expand(2, -1, -1))
    exchange = distillation(only_the_first)
    start = NET.outputs(exchange.weights, states.expand(2, -1, -1))
    sent = exchange(parts, 0)
    assert (stack == stack[:, :1]).all() and not torch.allclose(stack[0], stack[1])
    now = NET.outputs(stack[:, 0], states.expand(2, -1, -1))
    assert ((now - teacher) ** 2).mean() < 0.05 * ((start - teacher) ** 2).mean()
    np.testing.assert_array_equal(sent, np.full((2, 3), NET.columns * 4))  # their whole nets


def test_the_server_starts_as_the_agents_do_and_goes_on_from_its_state():
    exchange = distillation(by_confidence, fits=3)
    np.testing.assert_array_equal(exchange.weights[1], NET.initial_rows(9, 1)[0])
    (whole, _), (second, _) = agents(), agents()
    exchange(whole, 0)
    other = distillation(by_confidence, fits=3)
    other(second, 0)
    again = distillation(by_confidence, fits=3)
    again.restore(other.state())
    exchange(whole, 1)
    again(second, 1)
    for name in whole:
        assert torch.equal(whole[name], second[name])


def test_a_seeds_server_does_not_depend_on_its_blockmates():
    (block, _), (other, _) = agents(), agents()
    alone = {name: part[1:] for name, part in other.items()}
    distillation(by_confidence, fits=3)(block, 0)
    distillation(by_confidence, seeds=SEEDS[1:], fits=3)(alone, 0)
    torch.testing.assert_close(block["body"][1:], alone["body"], rtol=1e-4, atol=1e-6)


def test_who_is_sure_weighs_more():
    values = torch.tensor([[[[0.0, 0.0]], [[50.0, 0.0]]]])  # seed, agent, state, action
    weights = by_confidence(values, np.zeros((1, 1, 2)), {})
    torch.testing.assert_close(weights.flatten(), torch.tensor([1e-6, 1 + 1e-6]))


def test_visits_count_for_their_cell_and_action():
    grid = Grid(np.ones(2, np.float32), bins=2)
    seen = np.array([[[-0.5, -0.5], [0.5, 0.5], [9.0, 9.0]]], np.float32)  # the last is beyond
    corner = grid.codes(np.array([0.5, 0.5], np.float32), np.array(1), 2)
    parts = {"visits": np.array([[[corner, corner], [-1, -1]]])}
    weights = ByCellVisits(0.5, grid)(torch.zeros(1, 2, 3, 2), seen, parts)
    expected = torch.ones(1, 2, 3, 2)
    expected[0, 1, 1:, 1] = 0.25  # agent 0 was there twice
    torch.testing.assert_close(weights, expected)
