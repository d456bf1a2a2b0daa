"""Reacher's arm, compiled: MuJoCo's equations for this one model, many arms a call.

Two links turn in a plane about vertical axes, so gravity does no work and nothing touches. What is
left of MuJoCo is the mass matrix, Coriolis forces, damping, the soft limit of the elbow, and the
classical Runge-Kutta scheme. The constants are those of gymnasium's `reacher.xml`; the test of this
file follows MuJoCo itself.
"""

from math import cos, pi, sin

from numba import njit

GEAR, DAMPING, ARMATURE = 200.0, 1.0, 1.0
TIME_STEP, FRAMES = 0.01, 2
LINK, TIP = 0.1, 0.11  # a link's length, the fingertip's place on the second link
RADIUS, DENSITY = 0.01, 1000.0

# A link is a capsule: a cylinder and two half balls. Inertia about a line across its middle.
_CYLINDER = DENSITY * pi * RADIUS**2 * LINK
_BALL = DENSITY * 4.0 / 3.0 * pi * RADIUS**3
_LINK_MASS = _CYLINDER + _BALL
_LINK_INERTIA = _CYLINDER * (3 * RADIUS**2 + LINK**2) / 12.0 + _BALL * (
    2 * RADIUS**2 / 5.0 + LINK**2 / 4.0 + 3 * LINK * RADIUS / 8.0
)
_TIP_INERTIA = 2.0 * _BALL * RADIUS**2 / 5.0

# M = [[A + 2 B cos, C + B cos], [C + B cos, C + ARMATURE]] with cos of the elbow's angle
C = _LINK_INERTIA + _LINK_MASS * (LINK / 2) ** 2 + _TIP_INERTIA + _BALL * TIP**2
B = LINK * (_LINK_MASS * LINK / 2 + _BALL * TIP)
A = C + _LINK_INERTIA + _LINK_MASS * (LINK / 2) ** 2 + (_LINK_MASS + _BALL) * LINK**2 + ARMATURE

# The elbow's soft limit, MuJoCo's defaults: solref (0.02, 1), solimp (0.9, 0.95, 0.001, 0.5, 2)
LIMIT = 3.0
IMPEDANCE_START, IMPEDANCE_END, IMPEDANCE_WIDTH = 0.9, 0.95, 0.001
STIFFNESS, BRAKE = 1.0 / (IMPEDANCE_END * 0.02) ** 2, 2.0 / (IMPEDANCE_END * 0.02)
INVERSE_WEIGHT = (A + 2 * B) / ((A + 2 * B) * (C + ARMATURE) - (C + B) ** 2)  # at the zero pose

kernel = njit(cache=True, error_model="numpy")


@kernel
def _accelerations(elbow, speed0, speed1, torque0, torque1):
    """Angular accelerations of shoulder and elbow, the elbow's limit included."""
    coupling, turn = B * cos(elbow), B * sin(elbow)
    m00, m01, m11 = A + 2.0 * coupling, C + coupling, C + ARMATURE
    force0 = torque0 - DAMPING * speed0 + turn * (2.0 * speed0 + speed1) * speed1
    force1 = torque1 - DAMPING * speed1 - turn * speed0 * speed0
    determinant = m00 * m11 - m01 * m01
    free0 = (m11 * force0 - m01 * force1) / determinant
    free1 = (m00 * force1 - m01 * force0) / determinant
    distance = LIMIT - abs(elbow)
    if distance < 0.0:
        side = -1.0 if elbow > 0.0 else 1.0
        x = min(-distance / IMPEDANCE_WIDTH, 1.0)
        y = 2.0 * x * x if x <= 0.5 else 1.0 - 2.0 * (1.0 - x) * (1.0 - x)
        impedance = IMPEDANCE_START + y * (IMPEDANCE_END - IMPEDANCE_START)
        wanted = -BRAKE * side * speed1 - STIFFNESS * impedance * distance
        slack = INVERSE_WEIGHT * (1.0 - impedance) / impedance
        push = side * max(0.0, (wanted - side * free1) / (slack + m00 / determinant))
        free0 -= m01 / determinant * push
        free1 += m00 / determinant * push
    return free0, free1


@kernel
def place(arm, target, out):
    """Observe arms at rest in the sense of MuJoCo's `mj_forward`: after a reset."""
    for i in range(arm.shape[0]):
        _observe(arm[i], arm[i, 0], arm[i, 1], target[i], out[i])


@kernel
def _observe(arm, shoulder, elbow, target, out):
    """The 11 numbers of the v4 task; the last three are fingertip minus target, from the angles
    that MuJoCo's kinematics saw last."""
    out[0], out[1] = cos(arm[0]), cos(arm[1])
    out[2], out[3] = sin(arm[0]), sin(arm[1])
    out[4], out[5] = target[0], target[1]
    out[6], out[7] = arm[2], arm[3]
    out[8] = LINK * cos(shoulder) + TIP * cos(shoulder + elbow) - target[0]
    out[9] = LINK * sin(shoulder) + TIP * sin(shoulder + elbow) - target[1]
    out[10] = 0.0


@kernel
def step(arm, target, action, observation, reward):
    """One environment step of every arm [arm, (shoulder, elbow, their speeds)], in place.

    The reward takes the distance that the last observation shows. After `mj_step`, positions of
    bodies are those of the last Runge-Kutta stage and not of the state arrived at; gymnasium's v4
    shows them to the agent, and so does this.
    """
    h = TIME_STEP
    for i in range(arm.shape[0]):
        tip = (observation[i, 8] ** 2 + observation[i, 9] ** 2) ** 0.5
        reward[i] = -tip - action[i, 0] ** 2 - action[i, 1] ** 2
        torque0 = GEAR * min(max(action[i, 0], -1.0), 1.0)
        torque1 = GEAR * min(max(action[i, 1], -1.0), 1.0)
        q0, q1, v0, v1 = arm[i, 0], arm[i, 1], arm[i, 2], arm[i, 3]
        seen0, seen1 = q0, q1
        for _ in range(FRAMES):
            a0, a1 = _accelerations(q1, v0, v1, torque0, torque1)
            u0, u1 = v0 + 0.5 * h * a0, v1 + 0.5 * h * a1
            b0, b1 = _accelerations(q1 + 0.5 * h * v1, u0, u1, torque0, torque1)
            w0, w1 = v0 + 0.5 * h * b0, v1 + 0.5 * h * b1
            c0, c1 = _accelerations(q1 + 0.5 * h * u1, w0, w1, torque0, torque1)
            x0, x1 = v0 + h * c0, v1 + h * c1
            seen0, seen1 = q0 + h * w0, q1 + h * w1
            d0, d1 = _accelerations(seen1, x0, x1, torque0, torque1)
            q0 += h / 6.0 * (v0 + 2.0 * u0 + 2.0 * w0 + x0)
            q1 += h / 6.0 * (v1 + 2.0 * u1 + 2.0 * w1 + x1)
            v0 += h / 6.0 * (a0 + 2.0 * b0 + 2.0 * c0 + d0)
            v1 += h / 6.0 * (a1 + 2.0 * b1 + 2.0 * c1 + d1)
        arm[i, 0], arm[i, 1], arm[i, 2], arm[i, 3] = q0, q1, v0, v1
        _observe(arm[i], seen0, seen1, target[i], observation[i])
