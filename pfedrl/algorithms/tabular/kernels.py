"""Compiled kernels for tabular stacks: exact, no sampling.

Arrays carry the seed on their last axis, so that neighbouring numbers in memory belong to
neighbouring seeds and one vector instruction serves several seeds. A tile of LANES seeds is copied
to scratch that stays in the cache, worked on, and written back. Rows are flattened: entry (s, a)
of a table is row s*A + a, entry (s, a, j) of the moves is row (s*A + a)*J + j, and
successors[s*A + a, j] is the state that move j leads to.

All kernels stand in one file because Numba's cache of a compiled function watches its own file
alone: a helper edited in another file would go unnoticed.
"""

from math import factorial

import numpy as np
from numba import literal_unroll, njit

LANES = 64  # seeds in a tile; shorter inner loops are unrolled by LLVM before they are vectorised

# contract: a*b+c may be one fused instruction; nothing else about rounding is relaxed
kernel = njit(cache=True, error_model="numpy", fastmath={"contract"})

# exp(r) on |r| <= ln(2)/2 by its Taylor series: the first dropped term is below 1e-17
EXP_SERIES = tuple(1.0 / factorial(n) for n in range(13, -1, -1))
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490  # the leading bits of ln 2, and the rest
LN2_LOW = 1.90821492927058770002e-10


@kernel
def _load(source, first, scratch):
    """A tile of seeds to scratch; beyond the last seed, the last seed again."""
    last = source.shape[1] - 1
    for row in range(source.shape[0]):
        if first + LANES <= last + 1:
            for lane in range(LANES):
                scratch[row, lane] = source[row, first + lane]
        else:
            for lane in range(LANES):
                scratch[row, lane] = source[row, min(first + lane, last)]


@kernel
def _store(scratch, first, target):
    width = min(LANES, target.shape[1] - first)
    for row in range(target.shape[0]):
        for lane in range(width):
            target[row, first + lane] = scratch[row, lane]


@kernel
def _backup(moves, successors, reward, value, gamma, q):
    """q(s,a) = R(s,a) + gamma sum_j P(j|s,a) V(next(s,a,j))."""
    count = successors.shape[1]
    for row in range(successors.shape[0]):
        state = successors[row, 0]
        for lane in range(LANES):
            move = gamma * moves[row * count, lane]
            q[row, lane] = reward[row, lane] + move * value[state, lane]
        for j in range(1, count):
            state = successors[row, j]
            for lane in range(LANES):
                q[row, lane] += gamma * moves[row * count + j, lane] * value[state, lane]


@kernel
def _maximum(q, actions, value):
    """V(s) = max_a q(s,a)."""
    for state in range(value.shape[0]):
        for lane in range(LANES):
            value[state, lane] = q[state * actions, lane]
        for action in range(1, actions):
            for lane in range(LANES):
                value[state, lane] = max(value[state, lane], q[state * actions + action, lane])


@kernel
def _bandwidth(successors, actions):
    """How far from its own number a state's successors lie: 4 on a 4-wide grid, not 15."""
    widest = 0
    for row in range(successors.shape[0]):
        for j in range(successors.shape[1]):
            widest = max(widest, abs(successors[row, j] - row // actions))
    return widest


@kernel
def _factorise(policy, moves, successors, actions, gamma, band, matrix):
    """LU of I - gamma P^pi, in place; its diagonal holds reciprocals.

    The matrix is strictly diagonally dominant by rows, so no pivoting is needed, and without
    pivoting the factors keep the matrix's band.
    """
    count = successors.shape[1]
    states = successors.shape[0] // actions
    for state in range(states):
        for other in range(max(0, state - band), min(states, state + band + 1)):
            for lane in range(LANES):
                matrix[state * states + other, lane] = 0.0
        for lane in range(LANES):
            matrix[state * states + state, lane] = 1.0
        for action in range(actions):
            row = state * actions + action
            for j in range(count):
                entry = state * states + successors[row, j]
                for lane in range(LANES):
                    matrix[entry, lane] -= gamma * policy[row, lane] * moves[row * count + j, lane]
    for k in range(states):
        for lane in range(LANES):
            matrix[k * states + k, lane] = 1.0 / matrix[k * states + k, lane]
        end = min(states, k + band + 1)
        for i in range(k + 1, end):
            for lane in range(LANES):
                matrix[i * states + k, lane] *= matrix[k * states + k, lane]
            for j in range(k + 1, end):
                for lane in range(LANES):
                    matrix[i * states + j, lane] -= (
                        matrix[i * states + k, lane] * matrix[k * states + j, lane]
                    )


@kernel
def _solve(matrix, band, x):
    """x <- (I - gamma P^pi)^-1 x."""
    states = x.shape[0]
    for i in range(states):
        for j in range(max(0, i - band), i):
            for lane in range(LANES):
                x[i, lane] -= matrix[i * states + j, lane] * x[j, lane]
    for i in range(states - 1, -1, -1):
        for j in range(i + 1, min(states, i + band + 1)):
            for lane in range(LANES):
                x[i, lane] -= matrix[i * states + j, lane] * x[j, lane]
        for lane in range(LANES):
            x[i, lane] *= matrix[i * states + i, lane]


@kernel
def _solve_transposed(matrix, band, x):
    """x <- (I - gamma P^pi)^-T x."""
    states = x.shape[0]
    for i in range(states):
        for j in range(max(0, i - band), i):
            for lane in range(LANES):
                x[i, lane] -= matrix[j * states + i, lane] * x[j, lane]
        for lane in range(LANES):
            x[i, lane] *= matrix[i * states + i, lane]
    for i in range(states - 1, -1, -1):
        for j in range(i + 1, min(states, i + band + 1)):
            for lane in range(LANES):
                x[i, lane] -= matrix[j * states + i, lane] * x[j, lane]


@kernel
def _policy_reward(policy, reward, actions, x):
    """x(s) = sum_a pi(a|s) R(s,a)."""
    for state in range(x.shape[0]):
        for lane in range(LANES):
            x[state, lane] = 0.0
        for action in range(actions):
            row = state * actions + action
            for lane in range(LANES):
                x[state, lane] += policy[row, lane] * reward[row, lane]


@kernel
def _exponential(x, bits):
    """x[lane] <- exp(x[lane]) for x <= 0; the library's exp would not be vectorised."""
    for lane in range(LANES):
        clipped = max(x[lane], -700.0)
        power = np.floor(clipped * LOG2_E + 0.5)
        rest = (clipped - power * LN2_HIGH) - power * LN2_LOW
        series = EXP_SERIES[0]
        for coefficient in literal_unroll(EXP_SERIES[1:]):
            series = series * rest + coefficient
        x[lane] = series
        bits[lane] = (np.int64(power) + 1023) << 52  # the bits of 2**power
    scale = bits.view(np.float64)
    for lane in range(LANES):
        x[lane] *= scale[lane]


@kernel
def _softmax(logits, actions, policy, total, bits):
    for state in range(logits.shape[0] // actions):
        base = state * actions
        for lane in range(LANES):
            total[lane] = logits[base, lane]
        for action in range(1, actions):
            for lane in range(LANES):
                total[lane] = max(total[lane], logits[base + action, lane])
        for action in range(actions):
            for lane in range(LANES):
                policy[base + action, lane] = logits[base + action, lane] - total[lane]
            _exponential(policy[base + action], bits)
        for lane in range(LANES):
            total[lane] = 0.0
        for action in range(actions):
            for lane in range(LANES):
                total[lane] += policy[base + action, lane]
        for lane in range(LANES):
            total[lane] = 1.0 / total[lane]
        for action in range(actions):
            for lane in range(LANES):
                policy[base + action, lane] *= total[lane]


@kernel
def _project(policy, actions, threshold, total, active):
    """Euclidean projection of each row on the simplex, by Michelot's shrinking active set.

    Each pass drops the entries below the threshold that the kept ones imply; after as many passes
    as there are actions nothing more can drop.
    """
    for state in range(policy.shape[0] // actions):
        base = state * actions
        for lane in range(LANES):
            threshold[lane] = -np.inf
        for _ in range(actions):
            for lane in range(LANES):
                total[lane] = -1.0
                active[lane] = 0.0
            for action in range(actions):
                for lane in range(LANES):
                    kept = 1.0 if policy[base + action, lane] > threshold[lane] else 0.0
                    total[lane] += kept * policy[base + action, lane]
                    active[lane] += kept
            for lane in range(LANES):
                threshold[lane] = total[lane] / active[lane]
        for action in range(actions):
            for lane in range(LANES):
                policy[base + action, lane] = max(
                    policy[base + action, lane] - threshold[lane], 0.0
                )


@kernel
def damped_values(q, reward, moves, successors, actions, gamma, step_size):
    """QAvg's local work in the authors' code, in place on q[agent, row, seed].

    From V = max_a Q: V <- (1-eta) V + eta max_a [R + gamma P V] for each row of step_size[step,
    seed], then one full backup Q = R + gamma P V.
    """
    agents, rows, seeds = q.shape
    states = rows // actions
    table = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    value = np.empty((states, LANES))
    best = np.empty((states, LANES))
    eta = np.empty((step_size.shape[0], LANES))
    for first in range(0, seeds, LANES):
        _load(reward, first, rewards)
        _load(step_size, first, eta)
        for agent in range(agents):
            _load(moves[agent], first, local)
            _load(q[agent], first, table)
            _maximum(table, actions, value)
            for step in range(step_size.shape[0]):
                _backup(local, successors, rewards, value, gamma, table)
                _maximum(table, actions, best)
                for state in range(states):
                    for lane in range(LANES):
                        value[state, lane] = (1.0 - eta[step, lane]) * value[state, lane] + eta[
                            step, lane
                        ] * best[state, lane]
            _backup(local, successors, rewards, value, gamma, table)
            _store(table, first, q[agent])


@kernel
def damped_tables(q, reward, moves, successors, actions, gamma, step_size):
    """QAvg's local update as Section 4 prints it: Q <- (1-eta) Q + eta [R + gamma P max_a Q]."""
    agents, rows, seeds = q.shape
    states = rows // actions
    table = np.empty((rows, LANES))
    target = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    value = np.empty((states, LANES))
    eta = np.empty((step_size.shape[0], LANES))
    for first in range(0, seeds, LANES):
        _load(reward, first, rewards)
        _load(step_size, first, eta)
        for agent in range(agents):
            _load(moves[agent], first, local)
            _load(q[agent], first, table)
            for step in range(step_size.shape[0]):
                _maximum(table, actions, value)
                _backup(local, successors, rewards, value, gamma, target)
                for row in range(rows):
                    for lane in range(LANES):
                        table[row, lane] = (1.0 - eta[step, lane]) * table[row, lane] + eta[
                            step, lane
                        ] * target[row, lane]
            _store(table, first, q[agent])


@kernel
def natural_gradient(logits, reward, moves, successors, actions, gamma, step_size):
    """SoftPAvg's local work: logits += eta A^pi / (1-gamma), the natural policy gradient."""
    agents, rows, seeds = logits.shape
    states = rows // actions
    table = np.empty((rows, LANES))
    policy = np.empty((rows, LANES))
    q = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    band = _bandwidth(successors, actions)
    matrix = np.empty((states * states, LANES))
    value = np.empty((states, LANES))
    total, bits = np.empty(LANES), np.empty(LANES, np.int64)
    eta = np.empty((step_size.shape[0], LANES))
    for first in range(0, seeds, LANES):
        _load(reward, first, rewards)
        _load(step_size, first, eta)
        for agent in range(agents):
            _load(moves[agent], first, local)
            _load(logits[agent], first, table)
            for step in range(step_size.shape[0]):
                _softmax(table, actions, policy, total, bits)
                _policy_reward(policy, rewards, actions, value)
                _factorise(policy, local, successors, actions, gamma, band, matrix)
                _solve(matrix, band, value)
                _backup(local, successors, rewards, value, gamma, q)
                for row in range(rows):
                    state = row // actions
                    for lane in range(LANES):
                        table[row, lane] += (
                            eta[step, lane] * (q[row, lane] - value[state, lane]) / (1.0 - gamma)
                        )
            _store(table, first, logits[agent])


@kernel
def projected_gradient(policies, reward, moves, successors, actions, gamma, start, step_size):
    """ProjPAvg's local work: pi <- Proj(pi + eta d^pi(s) Q^pi(s,a) / (1-gamma)).

    d^pi is the normalised discounted occupancy from the start distribution.
    """
    agents, rows, seeds = policies.shape
    states = rows // actions
    policy = np.empty((rows, LANES))
    q = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    band = _bandwidth(successors, actions)
    matrix = np.empty((states * states, LANES))
    value = np.empty((states, LANES))
    occupancy = np.empty((states, LANES))
    threshold, total, active = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    eta = np.empty((step_size.shape[0], LANES))
    for first in range(0, seeds, LANES):
        _load(reward, first, rewards)
        _load(step_size, first, eta)
        for agent in range(agents):
            _load(moves[agent], first, local)
            _load(policies[agent], first, policy)
            for step in range(step_size.shape[0]):
                _policy_reward(policy, rewards, actions, value)
                _factorise(policy, local, successors, actions, gamma, band, matrix)
                _solve(matrix, band, value)
                _backup(local, successors, rewards, value, gamma, q)
                for state in range(states):
                    for lane in range(LANES):
                        occupancy[state, lane] = (1.0 - gamma) * start[state]
                _solve_transposed(matrix, band, occupancy)
                for row in range(rows):
                    state = row // actions
                    for lane in range(LANES):
                        policy[row, lane] += (
                            eta[step, lane] * occupancy[state, lane] * q[row, lane] / (1.0 - gamma)
                        )
                _project(policy, actions, threshold, total, active)
            _store(policy, first, policies[agent])


@kernel
def policy_values(policies, reward, moves, successors, actions, gamma):
    """V^pi of policies[row, seed] in each member of moves[member, row, seed]: [member, s, seed]."""
    members, _, seeds = moves.shape
    rows = policies.shape[0]
    states = rows // actions
    out = np.empty((members, states, seeds))
    policy = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    band = _bandwidth(successors, actions)
    matrix = np.empty((states * states, LANES))
    value = np.empty((states, LANES))
    for first in range(0, seeds, LANES):
        _load(policies, first, policy)
        _load(reward, first, rewards)
        for member in range(members):
            _load(moves[member], first, local)
            _policy_reward(policy, rewards, actions, value)
            _factorise(policy, local, successors, actions, gamma, band, matrix)
            _solve(matrix, band, value)
            _store(value, first, out[member])
    return out


@kernel
def softmax(logits, actions):
    """Row-wise softmax of logits[row, seed]."""
    rows, seeds = logits.shape
    out = np.empty((rows, seeds))
    table = np.empty((rows, LANES))
    policy = np.empty((rows, LANES))
    total, bits = np.empty(LANES), np.empty(LANES, np.int64)
    for first in range(0, seeds, LANES):
        _load(logits, first, table)
        _softmax(table, actions, policy, total, bits)
        _store(policy, first, out)
    return out


@kernel
def greedy(q, actions):
    """The greedy policy of q[row, seed]; the first action where several are best."""
    rows, seeds = q.shape
    out = np.zeros((rows, seeds))
    for state in range(rows // actions):
        for seed in range(seeds):
            best = state * actions
            for row in range(best + 1, (state + 1) * actions):
                if q[row, seed] > q[best, seed]:
                    best = row
            out[best, seed] = 1.0
    return out


@kernel
def optimal_tables(reward, moves, successors, actions, gamma, tolerance):
    """Q* of every member by policy iteration: [member, row, seed], exact up to the tolerance."""
    members, _, seeds = moves.shape
    rows = reward.shape[0]
    states = rows // actions
    out = np.empty((members, rows, seeds))
    policy = np.empty((rows, LANES))
    q = np.empty((rows, LANES))
    rewards = np.empty((rows, LANES))
    local = np.empty((moves.shape[1], LANES))
    band = _bandwidth(successors, actions)
    matrix = np.empty((states * states, LANES))
    value = np.empty((states, LANES))
    for first in range(0, seeds, LANES):
        _load(reward, first, rewards)
        for member in range(members):
            _load(moves[member], first, local)
            policy[:, :] = 0.0
            for state in range(states):
                policy[state * actions, :] = 1.0
            changed = True
            while changed:
                changed = False
                _policy_reward(policy, rewards, actions, value)
                _factorise(policy, local, successors, actions, gamma, band, matrix)
                _solve(matrix, band, value)
                _backup(local, successors, rewards, value, gamma, q)
                for state in range(states):
                    for lane in range(LANES):
                        best = state * actions
                        for row in range(best + 1, best + actions):
                            if q[row, lane] > q[best, lane]:
                                best = row
                        # rounding must not make two equal actions take turns for ever
                        if q[best, lane] > value[state, lane] + tolerance:
                            changed = True
                            for action in range(actions):
                                policy[state * actions + action, lane] = 0.0
                            policy[best, lane] = 1.0
            _store(q, first, out[member])
    return out
