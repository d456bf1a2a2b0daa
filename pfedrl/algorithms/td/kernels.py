"""Compiled kernels for agents that learn from what they sample, one transition after another.

Arrays are seed first. A step uses two uniform numbers: one for what happens, one for where a new
episode begins should this one end. All kernels stand in one file, as Numba's cache asks for.
"""

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract"})

TD_DRAWS = 2  # uniform numbers a step
Q_DRAWS = 3  # one more, for the action


@kernel
def _choose(cumulative, uniform):
    """The first entry whose cumulative probability exceeds the number."""
    for entry in range(len(cumulative) - 1):
        if uniform < cumulative[entry]:
            return entry
    return len(cumulative) - 1


@kernel
def _dot(first, second):
    total = 0.0
    for entry in range(len(first)):
        total += first[entry] * second[entry]
    return total


@kernel
def _scale_down(weights, bound):
    """Scale to the norm `bound` where the norm exceeds it (Algorithm 2, line 9)."""
    norm = np.sqrt(_dot(weights, weights))
    if norm > bound:
        weights *= bound / norm


@kernel
def _normalise_rows(features):
    """Each row to unit norm (Algorithm 2, line 11; rows, as its line 2 and Lemma 4.6 need)."""
    rows, dimension = features.shape
    for row in range(rows):
        total = 0.0
        for entry in range(dimension):
            total += features[row, entry] * features[row, entry]
        inverse = 1.0 / np.sqrt(total)
        for entry in range(dimension):
            features[row, entry] *= inverse


@kernel
def _observe(
    steps, state, uniforms, cumulative, targets, terminal, restart, visited, outcomes, reached
):
    """Follow one agent's chain for some steps; the state it ends in and the episodes it ended."""
    episodes = 0
    for step in range(steps):
        outcome = _choose(cumulative[state], uniforms[2 * step])
        target = targets[state, outcome]
        visited[step], outcomes[step], reached[step] = state, outcome, target
        if terminal[target]:
            episodes += 1
            state = _choose(restart, uniforms[2 * step + 1])
        else:
            state = target
    return state, episodes


@kernel
def representation_td(
    weights, features, states, episodes, uniforms, cumulative, targets, rewards, terminal,
    restart, gamma, alpha, beta, bound,
):  # fmt: skip
    """A round of PFedTD-Rep but for the server's average (Algorithm 2, lines 4 to 12), in place.

    K steps of each agent's weights [seed, agent, d] on its chain, equations (7) and (8); then one
    step of its features [seed, agent, s, d] on the same K transitions, equations (9) and (10).
    """
    seeds, agents, _ = weights.shape
    steps = uniforms.shape[2] // 2
    visited, outcomes, reached = np.empty((3, steps), np.int64)
    errors = np.empty(steps)
    for x in range(seeds):
        for i in range(agents):
            theta, phi = weights[x, i], features[x, i]
            states[x, i], ended = _observe(
                steps, states[x, i], uniforms[x, i], cumulative[x, i], targets, terminal,
                restart, visited, outcomes, reached,
            )  # fmt: skip
            episodes[x, i] += ended
            for k in range(steps):
                s, t = visited[k], reached[k]
                ahead = 0.0 if terminal[t] else gamma * _dot(phi[t], theta)
                error = rewards[x, s, outcomes[k]] + ahead - _dot(phi[s], theta)
                for entry in range(len(theta)):
                    theta[entry] += alpha * error * phi[s, entry]
            _scale_down(theta, bound)
            for k in range(steps):  # all errors before any row changes: they are of Phi_t
                s, t = visited[k], reached[k]
                ahead = 0.0 if terminal[t] else gamma * _dot(phi[t], theta)
                errors[k] = rewards[x, s, outcomes[k]] + ahead - _dot(phi[s], theta)
            for k in range(steps):
                for entry in range(len(theta)):
                    phi[visited[k], entry] += beta * errors[k] * theta[entry]
            _normalise_rows(phi)


@kernel
def table_td(
    values, states, episodes, uniforms, cumulative, targets, rewards, terminal, restart, gamma,
    alpha,
):  # fmt: skip
    """K steps of tabular TD(0) of each agent, in place on values [seed, agent, s]."""
    seeds, agents, _ = values.shape
    steps = uniforms.shape[2] // 2
    visited, outcomes, reached = np.empty((3, steps), np.int64)
    for x in range(seeds):
        for i in range(agents):
            states[x, i], ended = _observe(
                steps, states[x, i], uniforms[x, i], cumulative[x, i], targets, terminal,
                restart, visited, outcomes, reached,
            )  # fmt: skip
            episodes[x, i] += ended
            for k in range(steps):
                s, t = visited[k], reached[k]
                ahead = 0.0 if terminal[t] else gamma * values[x, i, t]
                error = rewards[x, s, outcomes[k]] + ahead - values[x, i, s]
                values[x, i, s] += alpha * error


@kernel
def _explore(
    steps, state, uniforms, actions, cumulative, successors, terminal, restart, taken, reached
):
    """Uniformly random actions of one agent; the rows (s, a) it took and the states it reached."""
    for step in range(steps):
        action = min(int(uniforms[3 * step] * actions), actions - 1)
        row = state * actions + action
        target = successors[row, _choose(cumulative[row], uniforms[3 * step + 1])]
        taken[step], reached[step] = row, target
        state = _choose(restart, uniforms[3 * step + 2]) if terminal[target] else target
    return state


@kernel
def _best(table, state, actions):
    """max_a Q(s, a) of a table of rows."""
    best = table[state * actions]
    for action in range(1, actions):
        best = max(best, table[state * actions + action])
    return best


@kernel
def _best_feature_value(features, weights, state, actions):
    """max_a Phi(s, a) theta."""
    best = _dot(features[state * actions], weights)
    for action in range(1, actions):
        best = max(best, _dot(features[state * actions + action], weights))
    return best


@kernel
def table_q(
    tables, visits, states, uniforms, cumulative, successors, rewards, terminal, restart, gamma,
    eta,
):  # fmt: skip
    """K steps of tabular Q-learning of each agent, in place on tables [seed, agent, s*A + a]."""
    seeds, agents, rows = tables.shape
    actions = rows // len(terminal)
    steps = uniforms.shape[2] // 3
    taken, reached = np.empty((2, steps), np.int64)
    for x in range(seeds):
        for i in range(agents):
            table = tables[x, i]
            states[x, i] = _explore(
                steps, states[x, i], uniforms[x, i], actions, cumulative[x, i], successors,
                terminal, restart, taken, reached,
            )  # fmt: skip
            for k in range(steps):
                ahead = 0.0 if terminal[reached[k]] else gamma * _best(table, reached[k], actions)
                table[taken[k]] += eta * (rewards[x, taken[k]] + ahead - table[taken[k]])
                visits[x, i, taken[k]] += 1.0


@kernel
def representation_q(
    weights, features, states, uniforms, cumulative, successors, rewards, terminal, restart,
    gamma, alpha, beta, bound,
):  # fmt: skip
    """A round of PFedQ-Rep but for the server's average (Algorithm 3, lines 3 to 15), in place.

    As representation_td, with features [seed, agent, s*A + a, d] and max_a in the target.
    """
    seeds, agents, _ = weights.shape
    actions = features.shape[2] // len(terminal)
    steps = uniforms.shape[2] // 3
    taken, reached = np.empty((2, steps), np.int64)
    errors = np.empty(steps)
    for x in range(seeds):
        for i in range(agents):
            theta, phi = weights[x, i], features[x, i]
            states[x, i] = _explore(
                steps, states[x, i], uniforms[x, i], actions, cumulative[x, i], successors,
                terminal, restart, taken, reached,
            )  # fmt: skip
            for k in range(steps):
                row, t = taken[k], reached[k]
                best = 0.0 if terminal[t] else _best_feature_value(phi, theta, t, actions)
                error = rewards[x, row] + gamma * best - _dot(phi[row], theta)
                for entry in range(len(theta)):
                    theta[entry] += alpha * error * phi[row, entry]
            _scale_down(theta, bound)
            for k in range(steps):
                row, t = taken[k], reached[k]
                best = 0.0 if terminal[t] else _best_feature_value(phi, theta, t, actions)
                errors[k] = rewards[x, row] + gamma * best - _dot(phi[row], theta)
            for k in range(steps):
                for entry in range(len(theta)):
                    phi[taken[k], entry] += beta * errors[k] * theta[entry]
            _normalise_rows(phi)
