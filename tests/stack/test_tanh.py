"""The compiled tanh against NumPy's in double precision, over all of float32."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfedrl.stack.tanh import tanh_, tanh_backward_


def ours(x) -> np.ndarray:
    return tanh_(torch.tensor(np.asarray(x, np.float32))).numpy()


@pytest.fixture(scope="module")
def everywhere() -> np.ndarray:
    """Every 1009th of the float32 numbers: all exponents, denormals, infinities, NaN."""
    bits = np.arange(0, 2**32, 1009, dtype=np.int64).astype(np.uint32)
    return np.append(bits.view(np.float32), np.float32([0.0, -0.0, np.inf, -np.inf, np.nan]))


def test_it_is_tanh_to_rounding_over_the_whole_range(everywhere):
    found = ours(everywhere)
    numbers = ~np.isnan(everywhere)
    expected = np.tanh(everywhere[numbers].astype(np.float64))
    assert abs(found[numbers] - expected).max() < 4e-7
    assert abs((found[numbers] - expected)[abs(everywhere[numbers]) > 0.1].mean()) < 2e-8
    assert np.isnan(found[~numbers]).all()
    assert (abs(found[numbers]) <= 1).all()


def test_small_numbers_keep_their_digits(everywhere):
    small = everywhere[abs(everywhere) < 1e-4]  # tanh(x) = x in float32; denormals too
    np.testing.assert_array_equal(ours(small), small)
    near = np.linspace(1e-4, 1, 10001).astype(np.float32)
    assert abs(ours(near) / np.tanh(near.astype(np.float64)) - 1).max() < 3e-7


def test_it_is_odd_and_saturates(everywhere):
    np.testing.assert_array_equal(ours(-everywhere), -ours(everywhere))
    np.testing.assert_array_equal(ours([10, 1e30, np.inf, -np.inf]), [1, 1, 1, -1])


@given(size=st.integers(1, 70), offset=st.integers(0, 20))
def test_an_element_has_the_same_bits_wherever_it_stands(size, offset):
    x = torch.linspace(-4, 4, 100)
    alone = torch.cat([tanh_(x[i : i + 1].clone()) for i in range(100)])
    there = x.clone()
    tanh_(there[offset : offset + size])
    assert torch.equal(there[offset : offset + size], alone[offset : offset + size])


def test_the_slope_is_autograds():
    x = torch.linspace(-5, 5, 1001, requires_grad=True)
    error = torch.cos(x.detach())
    with torch.enable_grad():
        (expected,) = torch.autograd.grad(x.tanh(), x, error)
    found = tanh_backward_(error.clone(), tanh_(x.detach().clone()))
    torch.testing.assert_close(found, expected, atol=5e-7, rtol=0)
