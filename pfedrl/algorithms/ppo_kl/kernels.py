"""Compiled pieces of PPO-KL: what is not a matrix product, for a stack of agents at once."""

from math import exp, log, sqrt

from numba import njit

WEIGHT_FLOOR, WEIGHT_CAP = 1e-8, 10.0  # of the importance weight
KL_FLOOR = 1e-8  # under the root

kernel = njit(cache=True, error_model="numpy")


@kernel
def discounted(rewards, ends, factor, out):
    """out[t] = rewards[t] + factor * out[t+1], anew in each episode: [A, T]."""
    for a in range(rewards.shape[0]):
        total = 0.0
        for t in range(rewards.shape[1] - 1, -1, -1):
            total = rewards[a, t] + (0.0 if ends[a, t] else factor * total)
            out[a, t] = total


@kernel
def generalised_advantages(rewards, values, ends, gamma, lambda_, out):
    """GAE (Schulman et al. 2016); nothing is bootstrapped at an episode's end: [A, T]."""
    for a in range(rewards.shape[0]):
        total, following = 0.0, 0.0
        for t in range(rewards.shape[1] - 1, -1, -1):
            if ends[a, t]:
                total, following = 0.0, 0.0
            difference = rewards[a, t] + gamma * following - values[a, t]
            total = difference + gamma * lambda_ * total
            following = values[a, t]
            out[a, t] = total


@kernel
def gaussian_kl(mean0, log_std0, mean1, log_std1, share, out):
    """Per agent, means over the batch of KL(0 || 1) and of sqrt(share * KL): out [A, 2]."""
    for a in range(mean0.shape[0]):
        total, rooted = 0.0, 0.0
        for i in range(mean0.shape[1]):
            kl = 0.0
            for d in range(mean0.shape[2]):
                gap = (mean0[a, i, d] - mean1[a, i, d]) / exp(log_std1[a, d])
                change = log_std0[a, d] - log_std1[a, d]
                kl += 0.5 * (exp(2.0 * change) + gap * gap - 1.0) - change
            total += kl
            rooted += sqrt(share * max(kl, KL_FLOOR))
        out[a, 0] = total / mean0.shape[1]
        out[a, 1] = rooted / mean0.shape[1]


@kernel
def policy_gradient(
    mean, log_std, batch, old_log_std, anchor_log_std, c1, c2, share, d_mean, d_log_std
):
    """The gradient of the loss, minus Equation (24), in the Gaussian's parameters.

    batch [A, n, 1 + 3d] holds advantages, actions, the means of the policy that acted and those of
    the anchor. The loss is -(mean(w A) - c2 mean(KL) - c1 mean(sqrt(share * KL_anchor))).
    """
    agents, count, size = mean.shape
    for a in range(agents):
        for d in range(size):
            d_log_std[a, d] = 0.0
        for i in range(count):
            log_weight, kl_anchor = 0.0, 0.0
            for d in range(size):
                scale = exp(-log_std[a, d])
                now = (batch[a, i, 1 + d] - mean[a, i, d]) * scale
                then = (batch[a, i, 1 + d] - batch[a, i, 1 + size + d]) * exp(-old_log_std[a, d])
                log_weight += 0.5 * (then * then - now * now) + old_log_std[a, d] - log_std[a, d]
                gap = (batch[a, i, 1 + 2 * size + d] - mean[a, i, d]) * scale
                change = anchor_log_std[a, d] - log_std[a, d]
                kl_anchor += 0.5 * (exp(2.0 * change) + gap * gap - 1.0) - change
            push = 0.0  # w A, where w is not clipped
            if log(WEIGHT_FLOOR) <= log_weight <= log(WEIGHT_CAP):
                push = exp(log_weight) * batch[a, i, 0]
            pull = 0.0  # d sqrt(share KL) / d KL
            if kl_anchor > KL_FLOOR:
                pull = c1[a] * share / (2.0 * sqrt(share * kl_anchor))
            for d in range(size):
                scale = exp(-log_std[a, d])
                now = (batch[a, i, 1 + d] - mean[a, i, d]) * scale
                old = (mean[a, i, d] - batch[a, i, 1 + size + d]) * scale
                anchor = (mean[a, i, d] - batch[a, i, 1 + 2 * size + d]) * scale
                d_mean[a, i, d] = (scale / count) * (c2[a] * old + pull * anchor - push * now)
                spread_old = exp(2.0 * (old_log_std[a, d] - log_std[a, d])) + old * old
                spread_anchor = exp(2.0 * (anchor_log_std[a, d] - log_std[a, d])) + anchor * anchor
                d_log_std[a, d] += (
                    c2[a] * (1.0 - spread_old)
                    + pull * (1.0 - spread_anchor)
                    - push * (now * now - 1.0)
                ) / count
