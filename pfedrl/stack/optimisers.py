"""Adam and SGD on rows of weights, and targets that follow them, in place.

Each row has its own rate, and Adam its own count of steps; rows that rest are passed over, and a
step may touch a range of columns only. Sums and products may be contracted, nothing more: with
`fastmath` divisions and roots start from an estimate that differs between makes of processor.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract"})


class AdamRule(NamedTuple):
    """What libraries do differently in Adam (Kingma and Ba 2015)."""

    epsilon: float
    # PyTorch adds epsilon to the root of the corrected second moment, Keras to the plain root
    epsilon_after_correction: bool


PYTORCH = AdamRule(1e-8, True)
KERAS = AdamRule(1e-7, False)


@kernel
def adam(weights, gradient, mean, square, steps, rate, active, first, last, epsilon, after, decay):
    """A step on columns first to last of the active rows; betas .9 and .999.

    decay [column] times the weight is added to the gradient, unless it is None: an L2 penalty.
    """
    near, far = np.float32(0.9), np.float32(0.999)
    new_near, new_far = np.float32(1.0) - near, np.float32(1.0) - far
    tiny = np.float32(epsilon)
    for r in range(len(weights)):
        if not active[r]:
            continue
        steps[r] += 1
        size = rate[r] / (1.0 - 0.9 ** steps[r])
        spread = 1.0 / np.sqrt(1.0 - 0.999 ** steps[r])
        scale = np.float32(spread if after else 1.0)
        step = np.float32(size if after else size / spread)
        # plain rows: LLVM vectorises these, not [r, p] with bounds that vary
        own, slope = weights[r, first:last], gradient[r, first:last]
        m, v = mean[r, first:last], square[r, first:last]
        pull: Any = None if decay is None else decay[first:last]
        for p in range(len(own)):
            g = slope[p]
            if decay is not None:
                g += pull[p] * own[p]
            m[p] = near * m[p] + new_near * g
            v[p] = far * v[p] + new_far * g * g
            own[p] -= step * m[p] / (np.sqrt(v[p]) * scale + tiny)


@kernel
def sgd(weights, gradient, velocity, rate, active, first, last, momentum, decay):
    """A step on columns first to last of the active rows, with PyTorch's momentum.

    velocity is None where there is no momentum; decay as in `adam`.
    """
    kept = np.float32(momentum)
    for r in range(len(weights)):
        if not active[r]:
            continue
        step = np.float32(rate[r])
        own, slope = weights[r, first:last], gradient[r, first:last]
        v: Any = None if velocity is None else velocity[r, first:last]
        pull: Any = None if decay is None else decay[first:last]
        for p in range(len(own)):
            g = slope[p]
            if decay is not None:
                g += pull[p] * own[p]
            if velocity is not None:
                v[p] = kept * v[p] + g
                g = v[p]
            own[p] -= step * g


@kernel
def track(target, weights, active, share):
    """Targets of the active rows move to the weights by a share of the way: soft updates."""
    step = np.float32(share)
    for r in range(len(weights)):
        if not active[r]:
            continue
        late, own = target[r], weights[r]
        for p in range(len(own)):
            late[p] += step * (own[p] - late[p])
