"""Another's DDPG on the same regulator, with the same nets and settings: both learn it."""

import numpy as np
import pytest

from pfedrl.algorithms.ddpg.ddpg import DDPG
from pfedrl.envs.environments import episode_returns
from tests.plain.regulator import RegulatorEnv, Regulators, RegulatorTask, riccati_gain

stable_baselines3 = pytest.importorskip(
    "stable_baselines3",
    reason="stable-baselines3 is not installed: pip install -c constraints.txt -e '.[oracle]'",
)
STEPS, MASS, GAMMA, RATE, TAU, BATCH = 1500, 1.0, 0.95, 1e-3, 0.01, 64


def share(act) -> float:
    """Of the way from no action to the best policy, by the mean return of many episodes."""
    starts = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    gain = riccati_gain(MASS, GAMMA)
    floor, found, best = (
        episode_returns(Regulators(np.full(100, MASS), 50), starts, policy).mean()
        for policy in (
            lambda seen: np.zeros((100, 1)),
            act,
            lambda seen: -(seen @ gain)[:, None],
        )
    )
    return (found - floor) / (best - floor)


def test_both_come_near_the_best_policy():
    import torch
    from stable_baselines3.common.noise import OrnsteinUhlenbeckActionNoise

    noise = OrnsteinUhlenbeckActionNoise(np.zeros(1), np.full(1, 0.2), theta=0.15, dt=1.0)
    with torch.enable_grad():
        theirs = stable_baselines3.DDPG(
            "MlpPolicy", RegulatorEnv(MASS), RATE, 2000, 200, BATCH, TAU, GAMMA,
            action_noise=noise, policy_kwargs={"net_arch": [64, 48]}, seed=0, device="cpu",
        )  # fmt: skip
        theirs.learn(STEPS)
    ours = DDPG(
        frames=STEPS, local_steps=STEPS, first_width=64, second_width=48, actor_rate=RATE,
        critic_rate=RATE, gamma=GAMMA, tau=TAU, batch=BATCH, buffer=2000, warm_up=200,
    ).learner(RegulatorTask(np.full((1, 3), MASS), np.zeros((1, 0))), [0])  # fmt: skip
    ours.advance(STEPS)
    found = [share(ours.policy(ours.weights[row : row + 1])) for row in range(3)]
    reference = share(lambda seen: theirs.predict(seen, deterministic=True)[0])
    assert reference > 0.7
    assert np.median(found) > 0.7
