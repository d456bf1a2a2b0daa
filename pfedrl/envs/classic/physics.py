"""Compiled physics of the classic control tasks: all members of all seeds in one call.

The equations are gymnasium's, step for step; what a family varies comes as a row of parameters a
member. States are double precision; learners see single precision observations.
"""

from math import cos, pi, sin

import numpy as np
from numba import njit

kernel = njit(cache=True, error_model="numpy")

# CartPole: gymnasium's constants
GRAVITY, CART_MASS, FORCE, TICK = 9.8, 1.0, 10.0, 0.02
POSITION_LIMIT, ANGLE_LIMIT = 2.4, 12 * 2 * pi / 360
# Acrobot: gymnasium's constants; link 2 is the same for every member
LINK_MASS_2, LINK_CENTRE_2, INERTIA, ACROBOT_TICK = 1.0, 0.5, 1.0, 0.2
SPEED_LIMIT_1, SPEED_LIMIT_2 = 4 * pi, 9 * pi


@kernel
def step_cartpole(state, action, parameters, active, reward, terminal):
    """One Euler step in place. State: x, x', angle, angle'. Parameters: half-length, pole mass."""
    for i in range(len(state)):
        if not active[i]:
            continue
        x, x_dot, theta, theta_dot = state[i]
        length, mass = parameters[i]
        total = mass + CART_MASS
        moment = mass * length
        force = FORCE if action[i] == 1 else -FORCE
        cosine, sine = cos(theta), sin(theta)
        push = (force + moment * theta_dot**2 * sine) / total
        theta_acc = (GRAVITY * sine - cosine * push) / (
            length * (4.0 / 3.0 - mass * cosine**2 / total)
        )
        x_acc = push - moment * theta_acc * cosine / total
        x += TICK * x_dot
        theta += TICK * theta_dot
        state[i, 0] = x
        state[i, 1] = x_dot + TICK * x_acc
        state[i, 2] = theta
        state[i, 3] = theta_dot + TICK * theta_acc
        terminal[i] = abs(x) > POSITION_LIMIT or abs(theta) > ANGLE_LIMIT
        reward[i] = 1.0


@kernel
def place(state, clock, rows, starts, width):
    """Rows start anew, in every coordinate within +- width by starts in [0, 1)."""
    for i in range(len(rows)):
        clock[rows[i]] = 0
        for j in range(state.shape[1]):
            state[rows[i], j] = (2.0 * starts[i, j] - 1.0) * width


@kernel
def observe_cartpole(state, observation):
    """The state itself."""
    observation[:] = state


@kernel
def _acrobot_rates(a1, a2, v1, v2, torque, length, mass, centre):
    """Angular accelerations (Sutton and Barto's book, as in gymnasium)."""
    m2, c2 = LINK_MASS_2, LINK_CENTRE_2
    d1 = mass * centre**2 + m2 * (length**2 + c2**2 + 2 * length * c2 * cos(a2)) + 2 * INERTIA
    d2 = m2 * (c2**2 + length * c2 * cos(a2)) + INERTIA
    phi2 = m2 * c2 * GRAVITY * cos(a1 + a2 - pi / 2)
    phi1 = (
        -m2 * length * c2 * v2**2 * sin(a2)
        - 2 * m2 * length * c2 * v2 * v1 * sin(a2)
        + (mass * centre + m2 * length) * GRAVITY * cos(a1 - pi / 2)
        + phi2
    )
    acc2 = (torque + d2 / d1 * phi1 - m2 * length * c2 * v1**2 * sin(a2) - phi2) / (
        m2 * c2**2 + INERTIA - d2**2 / d1
    )
    return -(d2 * acc2 + phi1) / d1, acc2


@kernel
def _wrapped(angle):
    while angle > pi:
        angle -= 2 * pi
    while angle < -pi:
        angle += 2 * pi
    return angle


@kernel
def acrobot_next(a1, a2, v1, v2, torque, length, mass, centre):
    """One Runge-Kutta step of 0.2 s."""
    h = ACROBOT_TICK
    k1, l1 = _acrobot_rates(a1, a2, v1, v2, torque, length, mass, centre)
    u1, u2 = v1 + h / 2 * k1, v2 + h / 2 * l1
    k2, l2 = _acrobot_rates(a1 + h / 2 * v1, a2 + h / 2 * v2, u1, u2, torque, length, mass, centre)
    w1, w2 = v1 + h / 2 * k2, v2 + h / 2 * l2
    k3, l3 = _acrobot_rates(a1 + h / 2 * u1, a2 + h / 2 * u2, w1, w2, torque, length, mass, centre)
    z1, z2 = v1 + h * k3, v2 + h * l3
    k4, l4 = _acrobot_rates(a1 + h * w1, a2 + h * w2, z1, z2, torque, length, mass, centre)
    a1 = _wrapped(a1 + h / 6 * (v1 + 2 * u1 + 2 * w1 + z1))
    a2 = _wrapped(a2 + h / 6 * (v2 + 2 * u2 + 2 * w2 + z2))
    v1 = min(max(v1 + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), -SPEED_LIMIT_1), SPEED_LIMIT_1)
    v2 = min(max(v2 + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4), -SPEED_LIMIT_2), SPEED_LIMIT_2)
    return a1, a2, v1, v2


@kernel
def step_acrobot(state, action, parameters, active, reward, terminal):
    """One step in place. State: two angles, two speeds. Parameters: l1, m1, centre of mass 1.

    The goal's height is the one of links of length 1, whatever the links are, as in gymnasium.
    """
    for i in range(len(state)):
        if not active[i]:
            continue
        a1, a2, v1, v2 = acrobot_next(
            state[i, 0], state[i, 1], state[i, 2], state[i, 3], action[i] - 1.0,
            parameters[i, 0], parameters[i, 1], parameters[i, 2],
        )  # fmt: skip
        state[i, 0], state[i, 1], state[i, 2], state[i, 3] = a1, a2, v1, v2
        terminal[i] = -cos(a1) - cos(a1 + a2) > 1.0
        reward[i] = 0.0 if terminal[i] else -1.0


@kernel
def observe_acrobot(state, observation):
    """Cosine and sine of both angles, and the speeds."""
    for i in range(len(state)):
        observation[i, 0] = cos(state[i, 0])
        observation[i, 1] = sin(state[i, 0])
        observation[i, 2] = cos(state[i, 1])
        observation[i, 3] = sin(state[i, 1])
        observation[i, 4] = state[i, 2]
        observation[i, 5] = state[i, 3]


@kernel
def fastest_swing_up(start, parameters, cells, longest):
    """Fewest steps found from a start to Acrobot's goal, or `longest`: breadth-first on a grid.

    Of all states that reach a cell of the grid, the first is kept and expanded; every path is one
    the dynamics allow, so the answer can be attained; a finer grid finds shorter ones. Swinging up
    needs lower speeds than the limits: cells span half of them, faster states share the outer ones.
    """
    length, mass, centre = parameters
    seen = np.zeros(cells**4, dtype=np.bool_)
    layer = start.reshape(1, 4).copy()
    for steps in range(1, longest + 1):
        following = np.empty((3 * len(layer), 4))
        count = 0
        for i in range(len(layer)):
            for torque in (-1.0, 0.0, 1.0):
                a1, a2, v1, v2 = acrobot_next(
                    layer[i, 0], layer[i, 1], layer[i, 2], layer[i, 3], torque,
                    length, mass, centre,
                )  # fmt: skip
                if -cos(a1) - cos(a1 + a2) > 1.0:
                    return steps
                cell = 0
                for value, limit in (
                    (a1, pi), (a2, pi), (v1, SPEED_LIMIT_1 / 2), (v2, SPEED_LIMIT_2 / 2)
                ):  # fmt: skip
                    place = int((value + limit) / (2 * limit) * cells)
                    cell = cell * cells + min(max(place, 0), cells - 1)
                if not seen[cell]:
                    seen[cell] = True
                    following[count] = (a1, a2, v1, v2)
                    count += 1
        if count == 0:
            return longest
        layer = following[:count]
    return longest
