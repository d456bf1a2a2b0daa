"""The written-out backward pass and Adam are autograd's and PyTorch's."""

import numpy as np
import pytest
import torch

from pfedrl.algorithms.dqn import kernels
from pfedrl.stack.stacked_net import StackedNet, activations


def loss_by_autograd(net, weights, seen, labels):
    """Mean squared error of each replica, summed: replicas do not touch each other."""
    with torch.enable_grad():
        rows = weights.clone().requires_grad_(True)
        own = rows[:, None, : net.embedding].expand(-1, seen.shape[1], -1)
        out = torch.cat([own, seen], dim=2)
        for number, (column, inputs, outputs) in enumerate(net.layers):
            bias = column + inputs * outputs
            matrix = rows[:, column:bias].view(-1, inputs, outputs)
            out = torch.bmm(out, matrix) + rows[:, None, bias : bias + outputs]
            if number + 1 < len(net.layers):
                out = out.relu()
        ((out - labels) ** 2).mean(dim=(1, 2)).sum().backward()
    return rows.grad


@pytest.mark.parametrize("embedding", [0, 3])
@pytest.mark.parametrize("layers", [1, 3])
def test_backward_is_autograds(embedding, layers):
    torch.manual_seed(0)
    net = StackedNet(4, 2, 8, layers, embedding)
    weights = torch.from_numpy(np.concatenate([net.initial(seed, 2) for seed in range(3)]))
    seen, labels = torch.randn(6, 5, 4), torch.randn(6, 5, 2)
    own = weights[:, None, :embedding].expand(-1, 5, -1)
    levels = activations(net.views(weights), torch.cat([own, seen], dim=2))
    slope = (levels[-1] - labels) * (2 / labels[0].numel())
    gradient = torch.zeros_like(weights)
    net.backward(net.views(weights), levels, slope, gradient, net.views(gradient))
    expected = loss_by_autograd(net, weights, seen, labels)
    torch.testing.assert_close(gradient, expected, atol=1e-6, rtol=1e-4)
    head = torch.zeros_like(weights)
    net.backward(net.views(weights), levels, slope, head, net.views(head), head_only=True)
    torch.testing.assert_close(head[:, net.part["head"]], gradient[:, net.part["head"]])
    assert (head[:, net.part["body"]] == 0).all()


def test_adam_is_pytorchs_each_replica_at_its_own_rate():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 40)).astype(np.float32)
    rates = np.array([1e-3, 5e-3, 1e-3])
    learning = np.array([True, True, False])
    ours, moments = start.copy(), np.zeros((2, 3, 40), np.float32)
    updates = np.zeros(3, np.int64)
    theirs = [torch.nn.Parameter(torch.from_numpy(row.copy())) for row in start]
    optimisers = [torch.optim.Adam([p], lr=r) for p, r in zip(theirs, rates, strict=True)]
    for _ in range(25):
        gradient = rng.normal(size=(3, 40)).astype(np.float32)
        kernels.adam(ours, gradient, *moments, updates, rates, learning, 0, 40)
        for row in (0, 1):
            theirs[row].grad = torch.from_numpy(gradient[row])
            optimisers[row].step()
    for row in (0, 1):
        np.testing.assert_allclose(ours[row], theirs[row].detach().numpy(), atol=2e-6)
    np.testing.assert_array_equal(ours[2], start[2])


def test_all_agents_of_a_seed_start_alike_but_for_their_embedding():
    net = StackedNet(4, 2, 8, 1, embedding=3)
    weights = net.initial(7, 4)
    assert (weights[:, net.part["net"]] == weights[:1, net.part["net"]]).all()
    assert len(np.unique(weights[:, 0])) == 4


def test_the_loss_is_against_the_target_net_and_stops_at_terminal_states():
    values = np.array([[[1.0, 2.0], [3.0, 4.0]]], np.float32)
    following = np.array([[[5.0, 7.0], [9.0, 8.0]]], np.float32)
    action, reward = np.array([[0, 1]]), np.array([[1.0, 1.0]], np.float32)
    slope, loss = np.zeros_like(values), np.zeros(1)
    kernels.loss_gradient(
        values, following, action, reward, np.array([[False, True]]), 0.5,
        np.array([True]), slope, loss,
    )  # fmt: skip
    errors = np.array([1.0 - (1.0 + 0.5 * 7.0), 4.0 - 1.0])
    assert loss[0] == pytest.approx((errors**2).mean())
    np.testing.assert_allclose(slope[0], [[errors[0], 0.0], [0.0, errors[1]]])
