"""Steps on a block of rows are PyTorch's, row by row, whichever way they are computed."""

import pytest
import torch
from torch import nn

from pfedrl.stack.descent import Descent, step_by_torch

ROWS, COLUMNS = 3, 1000


@pytest.mark.parametrize("limit", [0.5, 1e6], ids=["clipped", "free"])
def test_steps_are_pytorchs(limit):
    torch.manual_seed(0)
    start = torch.randn(ROWS, COLUMNS)
    gradients = torch.randn(4, ROWS, COLUMNS) * torch.tensor([0.001, 1.0, 5.0])[:, None]
    weights, gradient = start.clone(), torch.zeros(ROWS, COLUMNS)
    columns, decay = slice(100, 900), torch.full((COLUMNS,), 0.1)
    descent = Descent(weights, gradient, columns, 0.9, decay, limit)
    ours = start[:, columns].clone()
    velocity = torch.zeros_like(ours)
    plain = [nn.Parameter(row.clone()) for row in start[:, columns]]
    optimisers = [torch.optim.SGD([p], lr=0.01, momentum=0.9, weight_decay=0.1) for p in plain]
    for number, given in enumerate(gradients):
        rows = ROWS if number < 2 else 2  # the last row has no more minibatches
        gradient.copy_(given)
        descent.step(rows, 0.01)
        step_by_torch(ours[:rows], given[:rows, columns].clone(), velocity[:rows], 0.01, 0.9,
                      decay[columns], limit)  # fmt: skip
        for row in range(rows):
            plain[row].grad = given[row, columns].clone()
            nn.utils.clip_grad_norm_([plain[row]], limit)
            optimisers[row].step()
    wanted = torch.stack([p.data for p in plain])
    torch.testing.assert_close(weights[:, columns], wanted, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(ours, wanted, atol=1e-6, rtol=1e-5)
    outside = torch.ones(COLUMNS, dtype=torch.bool)
    outside[columns] = False
    assert torch.equal(weights[:, outside], start[:, outside])
