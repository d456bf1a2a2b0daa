"""Running filters against the plain formulas on all that was seen."""

import numpy as np

from pfedrl.algorithms.ppo_kl.filters import RunningFilter


def test_mean_and_std_are_those_of_everything_seen():
    random = np.random.default_rng(0)
    running = RunningFilter(2, 5, 3, clip=5.0, centred=True)
    seed, agent = np.array([0, 1, 1]), np.array([4, 0, 2])
    batches = [3 + 2 * random.normal(size=(3, n, 3)) for n in (1, 7, 20)]
    for batch in batches:
        out = running(seed, agent, batch)
    seen = np.concatenate(batches, axis=1)
    mean, std = seen.mean(axis=1, keepdims=True), seen.std(axis=1, ddof=1, keepdims=True)
    np.testing.assert_allclose(out, np.clip((batches[-1] - mean) / std, -5, 5), atol=1e-6)
    assert running.count[0, 0] == 0 and running.count[0, 4] == 28


def test_rewards_are_scaled_not_centred_and_clipped():
    running = RunningFilter(1, 1, 1, clip=10.0, centred=False)
    rewards = np.concatenate([np.full(999, -1.0), [-500.0]])[None, :, None]
    out = running(np.array([0]), np.array([0]), rewards)
    np.testing.assert_allclose(out[0, 0], -1.0 / rewards.std(ddof=1), rtol=1e-6)
    assert out.min() == -10.0


def test_the_first_number_alone():
    """The authors' code divides a lone number by its own size."""
    running = RunningFilter(1, 1, 1, clip=10.0, centred=False)
    np.testing.assert_allclose(running(np.array([0]), np.array([0]), np.full((1, 1, 1), -3.0)), -1)
