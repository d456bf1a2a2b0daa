"""tanh of float32 numbers, compiled: the same bits on every processor, and fast on all of them.

PyTorch's takes MKL's, which is six times slower when MKL is held to AVX2. This one is an odd
rational function, x P(x^2) / Q(x^2), fitted to a relative error of 2.2e-8 up to where tanh rounds
to 1; rounding makes it 3.5e-7 at most, without a bias. Products and sums are not contracted, so
that every processor rounds alike.
"""

import numpy as np
from numba import njit
from torch import Tensor

kernel = njit(cache=True, error_model="numpy")

END = np.float32(9.02)  # tanh is 1 from here on, in float32
# of x^2, x^4, x^6, x^8 above and below; both start with 1
P1, Q1 = np.float32(1.33826881e-01), np.float32(4.67160093e-01)
P2, Q2 = np.float32(3.49745846e-03), np.float32(2.58843643e-02)
P3, Q3 = np.float32(2.06358294e-05), np.float32(3.28851838e-04)
P4, Q4 = np.float32(1.33842898e-08), np.float32(7.79025101e-07)
ONE = np.float32(1.0)


@kernel
def apply(x):
    """x [n] becomes its tanh."""
    for i in range(len(x)):
        y = min(max(x[i], -END), END)
        u = y * y
        above = y * (ONE + u * (P1 + u * (P2 + u * (P3 + u * P4))))
        below = ONE + u * (Q1 + u * (Q2 + u * (Q3 + u * Q4)))
        x[i] = min(max(above / below, -ONE), ONE)


@kernel
def slopes(error, y):
    """error [n], a derivative by y = tanh(x), becomes the one by x."""
    for i in range(len(y)):
        error[i] *= ONE - y[i] * y[i]


def tanh_(x: Tensor) -> Tensor:
    """In place, of a contiguous tensor."""
    apply(x.view(-1).numpy())
    return x


def tanh_backward_(error: Tensor, y: Tensor) -> Tensor:
    """In place of `error`: the derivative by x, given the one by y = tanh(x)."""
    slopes(error.view(-1).numpy(), y.view(-1).numpy())
    return error
