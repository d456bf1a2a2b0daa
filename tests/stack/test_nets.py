"""Gradients of stacks are autograd's, by weights and by inputs."""

import numpy as np
import pytest
import torch

from pfedrl.stack.nets import Net, Perceptron, glorot_start, uniform_start
from pfedrl.stack.optimisers import PYTORCH, adam

ROWS, SAMPLES = 6, 5
ACTIVATION = {"relu": torch.relu, "tanh": torch.tanh, "linear": lambda x: x}


def plain(net: Perceptron, rows, observations):
    """The same outputs, in operations that autograd follows."""
    own = rows[:, None, : net.embedding].expand(-1, observations.shape[1], -1)
    out = torch.cat([own, observations], dim=2)
    for number, (column, inputs, outputs) in enumerate(net.layers, 1):
        bias = column + inputs * outputs
        matrix = rows[:, column:bias].view(-1, inputs, outputs)
        out = torch.bmm(out, matrix) + rows[:, None, bias : bias + outputs]
        out = ACTIVATION[net.hidden if number < len(net.layers) else net.output](out)
    return out


def rows_of(net, count=ROWS):
    weights = [net.initial(np.random.default_rng(row), uniform_start) for row in range(count)]
    return torch.from_numpy(np.stack(weights))


def by_hand(net: Net, rows, inputs, slope, **options):
    """Gradients by the weights and by the inputs."""
    gradient = torch.zeros_like(rows)
    views = net.views(rows)
    levels = net.forward(views, inputs)
    kept = slope.clone()
    by_inputs = net.backward(views, levels, slope, net.views(gradient), to_inputs=True, **options)
    assert torch.equal(kept, slope)
    return gradient, by_inputs


@pytest.mark.parametrize("embedding", [0, 3])
@pytest.mark.parametrize("hidden", ["relu", "tanh"])
@pytest.mark.parametrize("output", ["linear", "tanh"])
@pytest.mark.parametrize("layers", [0, 1, 3])
def test_gradients_are_autograds(embedding, hidden, output, layers):
    torch.manual_seed(0)
    net = Perceptron(
        4, *[8] * layers, 2, hidden=hidden, output=output, embedding=embedding,
        further={"log_std": 2},
    )  # fmt: skip
    rows = rows_of(net)
    rows[:, :embedding] = torch.randn(ROWS, embedding)
    seen, slope = torch.randn(ROWS, SAMPLES, 4), torch.randn(ROWS, SAMPLES, 2)
    inputs = net.with_embedding(net.views(rows), seen)
    gradient, by_inputs = by_hand(net, rows, inputs, slope)
    with torch.enable_grad():
        leaves = rows.clone().requires_grad_(True), seen.clone().requires_grad_(True)
        by_rows, by_seen = torch.autograd.grad(plain(net, *leaves), leaves, slope)
    torch.testing.assert_close(gradient, by_rows, atol=2e-6, rtol=1e-4)
    torch.testing.assert_close(by_inputs[:, :, embedding:], by_seen, atol=2e-6, rtol=1e-4)
    views = net.views(rows)
    levels = net.forward(views, inputs)
    alone = net.backward(views, levels, slope, None, to_inputs=True)
    assert torch.equal(alone, by_inputs)
    head = torch.zeros_like(rows)
    net.backward(views, levels, slope, net.views(head), head_only=True)
    outside = torch.ones(net.columns, dtype=torch.bool)
    outside[net.part["head"]] = False
    assert torch.equal(head[:, ~outside], gradient[:, ~outside])
    assert (head[:, outside] == 0).all()


def test_a_net_alone_has_the_bits_it_has_among_others():
    net = Perceptron(11, 64, 64, 1, hidden="tanh")
    rows, inputs = rows_of(net), torch.randn(ROWS, 128, 11)
    slope = torch.randn(ROWS, 128, 1)
    together = by_hand(net, rows, inputs, slope)
    alone = by_hand(net, rows[2:3], inputs[2:3], slope[2:3])
    assert all(torch.equal(a[2:3], b) for a, b in zip(together, alone, strict=True))


def test_an_actor_learns_through_its_critics_inputs_as_with_autograd():
    """PFedDDPG-Rep: nets of 400 and 300; the actor climbs Q(s, mu(s)), the critic held fixed."""
    torch.manual_seed(3)
    actor = Perceptron(11, 400, 300, 3, output="tanh")
    critic = Perceptron(11 + 3, 400, 300, 1)
    policy, value = rows_of(actor, 4), rows_of(critic, 4)
    seen = torch.randn(4, 16, 11)
    # maximise mean Q: the slope of -mean(Q) by each value is -1 / samples
    acts = actor.forward(actor.views(policy), seen)
    judged = critic.forward(critic.views(value), torch.cat([seen, acts[-1]], dim=2))
    slope = torch.full((4, 16, 1), -1 / 16)
    by_inputs = critic.backward(critic.views(value), judged, slope, None, to_inputs=True)
    gradient = torch.zeros_like(policy)
    by_action = by_inputs[:, :, 11:].contiguous()
    actor.backward(actor.views(policy), acts, by_action, actor.views(gradient))
    with torch.enable_grad():
        rows = policy.clone().requires_grad_(True)
        q = plain(critic, value, torch.cat([seen, plain(actor, rows, seen)], dim=2))
        (expected,) = torch.autograd.grad(-q.mean(dim=1).sum(), rows)
    torch.testing.assert_close(gradient, expected, atol=1e-7, rtol=1e-3)
    assert actor.names == ["body", "head"]
    # heads first, then the representation: a step touches a part only
    before, head = policy.clone(), actor.part["head"]
    moments, steps = np.zeros((2, *policy.shape), np.float32), np.zeros(4, np.int64)
    adam(
        policy.numpy(), gradient.numpy(), *moments, steps, np.full(4, 1e-3), np.ones(4, bool),
        head.start, head.stop, *PYTORCH, None,
    )  # fmt: skip
    assert torch.equal(policy[:, actor.part["body"]], before[:, actor.part["body"]])
    assert not torch.equal(policy[:, head], before[:, head])
    again = torch.cat([seen, actor.outputs(policy, seen)], dim=2)
    assert (critic.outputs(value, again).mean(1) > judged[-1].mean(1)).all()


def test_all_agents_of_a_seed_start_alike_but_for_their_embedding():
    net = Perceptron(4, 8, 2, embedding=3)
    weights = net.initial_rows(7, 4)
    assert (weights[:, net.part["net"]] == weights[:1, net.part["net"]]).all()
    assert len(np.unique(weights[:, 0])) == 4


def test_glorot_starts_have_their_spread_and_no_biases():
    net = Perceptron(200, 100, 1, further={"log_std": 2})
    row = net.initial(np.random.default_rng(0), glorot_start)
    matrix = row[net.in_matrices([0]) == 1]
    assert matrix.std() == pytest.approx(np.sqrt(2 / 300), rel=0.02)
    others = row[net.in_matrices([0, 1]) == 0]
    assert len(others) == 100 + 1 + 2 and (others == 0).all()


@pytest.mark.parametrize("embedding", [0, 3])
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_of_a_net_that_numbers_join_are_autograds(embedding, layers):
    """A critic: actions are inputs of its second layer, beside what the first makes of the rest."""
    torch.manual_seed(0)
    net = Perceptron(4, *[8] * layers, 1, embedding=embedding, joining=2)
    assert net.layers[1][1] == 10
    rows = rows_of(net)
    rows[:, :embedding] = torch.randn(ROWS, embedding)
    seen, action = torch.randn(ROWS, SAMPLES, 4), torch.randn(ROWS, SAMPLES, 2)
    slope, gradient = torch.randn(ROWS, SAMPLES, 1), torch.zeros_like(rows)
    views = net.views(rows)
    levels = net.forward(views, net.with_embedding(views, seen), action)
    by_action = net.backward(
        views, levels, slope, net.views(gradient), to_inputs=True, joining=action
    )

    def plain_critic(rows, action):
        own = rows[:, None, :embedding].expand(-1, SAMPLES, -1)
        out = torch.cat([own, seen], dim=2)
        for number, (column, inputs, outputs) in enumerate(net.layers):
            out = torch.cat([out, action], dim=2) if number == 1 else out
            bias = column + inputs * outputs
            out = torch.bmm(out, rows[:, column:bias].view(-1, inputs, outputs))
            out = out + rows[:, None, bias : bias + outputs]
            out = out.relu() if number + 1 < len(net.layers) else out
        return out

    with torch.enable_grad():
        leaves = rows.clone().requires_grad_(True), action.clone().requires_grad_(True)
        value = plain_critic(*leaves)
        by_rows, by_action_too = torch.autograd.grad(value, leaves, slope)
    torch.testing.assert_close(levels[-1], value.detach(), atol=2e-6, rtol=1e-4)
    torch.testing.assert_close(gradient, by_rows, atol=2e-6, rtol=1e-4)
    torch.testing.assert_close(by_action, by_action_too, atol=2e-6, rtol=1e-4)
    alone = net.backward(views, levels, slope, None, to_inputs=True, joining=action)
    assert torch.equal(alone, by_action)
    head = torch.zeros_like(rows)
    net.backward(views, levels, slope, net.views(head), head_only=True, joining=action)
    assert torch.equal(head[:, net.part["head"]], gradient[:, net.part["head"]])
    assert head.count_nonzero() <= head[:, net.part["head"]].numel()
