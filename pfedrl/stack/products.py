"""Matrix products of stacks whose numbers do not depend on how large the stack is.

A stack of exactly one takes another kernel, which adds up in another order: a net alone would part
from the same net among others. So a stack of one is computed twice over, and one result kept.
"""

import torch
from torch import Tensor


def product(left: Tensor, right: Tensor, out: Tensor | None = None) -> Tensor:
    """left @ right for every member of the stack."""
    if len(left) > 1:
        return torch.bmm(left, right, out=out)
    if out is None:
        return torch.bmm(twice(left), twice(right))[:1]
    # results go to rows that lie apart, for which there is yet another kernel
    rows, columns = out.shape[1:]
    apart = out.new_empty(2, rows * columns + 1)[:, 1:].view(2, rows, columns)
    return out.copy_(torch.bmm(twice(left), twice(right), out=apart)[:1])


def affine(bias: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """bias + left @ right for every member of the stack."""
    if len(left) > 1:
        return torch.baddbmm(bias, left, right)
    return torch.baddbmm(twice(bias), twice(left), twice(right))[:1]


def twice(one: Tensor) -> Tensor:
    return one.expand(2, -1, -1)
