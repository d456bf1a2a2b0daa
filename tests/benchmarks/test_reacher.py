"""Both ways of the benchmark arrive at the same policy."""

import numpy as np

from pfedrl.benchmarks import reacher
from pfedrl.envs.mujoco.reacher import Reacher


def test_a_plain_agent_is_a_stack_of_one(monkeypatch):
    small = {"episodes": 4, "critic_epochs": 2, "policy_epochs": 2}
    monkeypatch.setattr(reacher, "SETTINGS", reacher.SETTINGS.model_copy(update=small))
    family = Reacher()
    learner = reacher.SETTINGS.learner(family.task(family.draw([0])), [0])
    stack, lived, advantages, returns = reacher.first_batch(learner)
    agent = reacher.PlainAgent(stack.policy[0], stack.critic[0], reacher.SETTINGS, 11, 2)
    start = agent.flat()
    agent.fit(lived, advantages, returns, np.random.default_rng(0))
    learner.rule.update(stack, lived, [np.random.default_rng(0)])
    assert float((start - stack.policy[0]).abs().max()) > 1e-3
    np.testing.assert_allclose(agent.flat(), stack.policy[0], atol=1e-6)
    values = agent.critic(reacher.torch.from_numpy(lived.observations[0].astype(np.float32)))
    observations = reacher.torch.from_numpy(lived.observations.astype(np.float32))
    found = learner.rule.values(stack.critic, observations)[0]
    np.testing.assert_allclose(values.detach()[:, 0], found, atol=1e-4)
