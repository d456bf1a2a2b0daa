"""Compiled parts of deep value learning: choosing actions, and the loss's gradient."""

from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "arcp"})

EXPLORE, ACTION, START = 0, 1, 2  # columns of a row of uniforms


@kernel
def choose(values, epsilon, active, uniforms, place, action):
    """Epsilon-greedy on values [replica, action]: action [replica, 1], the first of equals."""
    for r in range(len(values)):
        if not active[r]:
            continue
        row = uniforms[r, place[r]]
        if row[EXPLORE] < epsilon[r]:
            action[r, 0] = int(row[ACTION] * values.shape[1])
        else:
            best = 0
            for a in range(1, values.shape[1]):
                if values[r, a] > values[r, best]:
                    best = a
            action[r, 0] = best


@kernel
def loss_gradient(values, following, action, reward, stops, gamma, learning, gradient, loss):
    """Mean squared error against r + gamma max_a Q'(s', a), and its gradient by the values."""
    replicas, batch, actions = values.shape
    gradient[:] = 0.0
    for r in range(replicas):
        if not learning[r]:
            continue
        loss[r] = 0.0
        for b in range(batch):
            best = following[r, b, 0]
            for a in range(1, actions):
                best = max(best, following[r, b, a])
            target = reward[r, b] if stops[r, b] else reward[r, b] + gamma * best
            error = values[r, b, action[r, b, 0]] - target
            gradient[r, b, action[r, b, 0]] = 2.0 * error / batch
            loss[r] += error * error / batch
