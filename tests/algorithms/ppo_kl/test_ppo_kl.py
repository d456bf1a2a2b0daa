"""PPO-KL on a stack: its pieces against closed forms, autograd and one agent at a time."""

import numpy as np
import pytest
import torch

from pfedrl.algorithms.ppo_kl import kernels
from pfedrl.algorithms.ppo_kl.settings import PPOKLSettings, Pull
from pfedrl.algorithms.ppo_kl.update import PPOKL, Stack, adapted
from pfedrl.envs.experience import Experience

AGENTS, EPISODES, STEPS = 3, 4, 10
SETTINGS = PPOKLSettings(
    learning_rate=1e-2, d_local=1e-2, policy_hidden=(7, 5), critic_hidden=(6, 4),
    policy_epochs=2, critic_epochs=2, policy_batch=16, critic_batch=32,
)  # fmt: skip
PULLS = {
    "fed_avg": Pull(),
    "fed_kl": Pull(c1_start=0.3, d_global=0.05),
    "fed_kl_half": Pull(c1_start=0.3, d_global=0.05, share=0.5),
    "fed_prox": Pull(proximal=0.5),
    "fmarl": Pull(decay=0.9, decay_counts_tensors=True),
}


def experience(random, agents=AGENTS):
    ends = np.zeros((agents, EPISODES * STEPS), dtype=bool)
    ends[:, STEPS - 1 :: STEPS] = True
    shape = ends.shape
    return Experience(
        random.normal(size=(*shape, 11)), random.normal(size=(*shape, 2)),
        random.normal(size=shape), ends,
    )  # fmt: skip


def new_stack(rule, random, agents=AGENTS):
    starts = [rule.initial(random) for _ in range(agents)]
    policy, critic = (torch.from_numpy(np.stack(rows)) for rows in zip(*starts, strict=True))
    nudge = 0.05 * torch.from_numpy(random.normal(size=policy.shape).astype(np.float32))
    total = EPISODES * STEPS
    return Stack(
        policy, critic, policy + nudge, torch.zeros_like(critic), torch.zeros_like(critic),
        np.zeros(agents, np.int64), torch.zeros(agents, total, 11), torch.zeros(agents, total),
        np.zeros(agents, dtype=bool), np.full(agents, rule.pull.c1_start), np.ones(agents),
    )  # fmt: skip


def member(stack, i):
    """One agent of a stack, as a stack of its own."""
    values = {}
    for name, value in vars(stack).items():
        values[name] = value if isinstance(value, int) else value[i : i + 1] + 0
    values["seen_before"] = stack.seen_before[i : i + 1].copy()
    return Stack(**values)


def generators(count=AGENTS):
    return [np.random.default_rng(100 + i) for i in range(count)]


def test_discounted_sums_and_gae_by_hand():
    rewards = np.array([[1.0, 2.0, 3.0, 4.0]])
    values = np.array([[0.5, 1.0, 1.5, 2.0]])
    ends = np.array([[False, True, False, True]])
    out = np.empty_like(rewards)
    kernels.discounted(rewards, ends, 0.9, out)
    np.testing.assert_allclose(out, [[1 + 0.9 * 2, 2, 3 + 0.9 * 4, 4]])
    kernels.generalised_advantages(rewards, values, ends, 0.9, 0.5, out)
    last, before = 2.0 - 1.0, 1.0 + 0.9 * 1.0 - 0.5
    np.testing.assert_allclose(out[0, :2], [before + 0.45 * last, last])
    np.testing.assert_allclose(out[0, 2:], [3 + 0.9 * 2 - 1.5 + 0.45 * (4 - 2), 4 - 2])


def test_gae_with_lambda_one_is_return_minus_value():
    lived = experience(np.random.default_rng(0))
    values = np.random.default_rng(1).normal(size=lived.rewards.shape)
    gae, returns = np.empty_like(values), np.empty_like(values)
    kernels.generalised_advantages(lived.rewards, values, lived.ends, 0.97, 1.0, gae)
    kernels.discounted(lived.rewards, lived.ends, 0.97, returns)
    np.testing.assert_allclose(gae, returns - values, atol=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_gaussian_kl_as_torch(share):
    random = np.random.default_rng(2)
    means = random.normal(size=(2, AGENTS, 20, 2))
    log_stds = 0.3 * random.normal(size=(2, AGENTS, 2))
    out = np.empty((AGENTS, 2))
    kernels.gaussian_kl(means[0], log_stds[0], means[1], log_stds[1], share, out)
    first, second = (
        torch.distributions.Normal(torch.tensor(m), torch.tensor(s).exp()[:, None])
        for m, s in zip(means, log_stds, strict=True)
    )
    kl = torch.distributions.kl_divergence(first, second).sum(-1)
    np.testing.assert_allclose(out[:, 0], kl.mean(1))
    np.testing.assert_allclose(out[:, 1], (share * kl).sqrt().mean(1))


def loss(rule, policy, old, anchor, observations, actions, advantages, c1, c2):
    """Minus Equation (24) for one agent, in the plainest torch."""

    def gaussian(parameters):
        x, at = observations, 0
        for i, (_, rows, columns) in enumerate(rule.policy.layers):
            kernel = parameters[at : at + rows * columns].view(rows, columns)
            at += rows * columns
            x = x @ kernel + parameters[at : at + columns]
            at += columns
            x = x if i == len(rule.policy.layers) - 1 else x.tanh()
        return torch.distributions.Normal(x, parameters[at:].exp())

    new, old, anchor = gaussian(policy), gaussian(old), gaussian(anchor)
    weight = (new.log_prob(actions) - old.log_prob(actions)).sum(-1).exp().clamp(1e-8, 10.0)
    local = torch.distributions.kl_divergence(old, new).sum(-1)
    distance = (rule.pull.share * torch.distributions.kl_divergence(anchor, new).sum(-1)).sqrt()
    return -((weight * advantages).mean() - c2 * local.mean() - c1 * distance.mean())


@pytest.mark.parametrize("pull", PULLS.values(), ids=PULLS)
def test_policy_steps_follow_autograd(pull):
    """Both epochs of every agent, minibatch by minibatch, against autograd on one agent."""
    rule = PPOKL(SETTINGS, pull, 11, 2)
    random = np.random.default_rng(3)
    stack, lived = new_stack(rule, random), experience(random)
    old = stack.policy - 0.02 * torch.randn(stack.policy.shape, generator=torch.manual_seed(0))
    advantages = random.normal(size=lived.rewards.shape)
    expected = stack.policy.clone()
    observations = torch.from_numpy(lived.observations.astype(np.float32))
    for i, source in enumerate(generators()):
        step = 0
        for _ in range(SETTINGS.policy_epochs):
            for chosen in np.split(source.permutation(EPISODES * STEPS), [16, 32]):
                step += 1
                policy = expected[i].clone().requires_grad_()
                loss(
                    rule, policy, old[i], stack.anchor[i], observations[i, chosen],
                    torch.from_numpy(lived.actions[i, chosen].astype(np.float32)),
                    torch.from_numpy(advantages[i, chosen].astype(np.float32)),
                    stack.c1[i], stack.c2[i],
                ).backward()  # fmt: skip
                gradient = policy.grad + pull.proximal * (expected[i] - stack.anchor[i])
                count = step * 7 if pull.decay_counts_tensors else step
                expected[i] -= SETTINGS.learning_rate * pull.decay ** (count / 2) * gradient
    rule.fit_policy(stack, old, observations, lived.actions, advantages, generators())
    torch.testing.assert_close(stack.policy, expected, atol=2e-6, rtol=1e-5)


def value_by_torch(rule, critic, x):
    """A critic [C] at x [n, observation], in operations that autograd follows."""
    layers = rule.critic.views(critic[None])
    for kernel, bias in layers[:-1]:
        x = (x @ kernel[0] + bias[0]).tanh()
    return (x @ layers[-1][0][0] + layers[-1][1][0])[:, 0]


def test_critic_steps_follow_autograd_and_adam():
    rule = PPOKL(SETTINGS, Pull(), 11, 2)
    random = np.random.default_rng(4)
    stack, lived = new_stack(rule, random), experience(random)
    expected = stack.critic.clone()
    observations = torch.from_numpy(lived.observations.astype(np.float32))
    returns = torch.from_numpy(lived.rewards.astype(np.float32))
    decay = torch.from_numpy(rule.critic_decay)
    for i, source in enumerate(generators()):
        first, second, step = torch.zeros_like(decay), torch.zeros_like(decay), 0
        for _ in range(SETTINGS.critic_epochs):
            order = source.permutation(2 * EPISODES * STEPS) % (EPISODES * STEPS)
            for chosen in np.split(order, [32, 64]):
                critic, step = expected[i].clone().requires_grad_(), step + 1
                values = value_by_torch(rule, critic, observations[i, chosen])
                squares = 0.5 * (decay * critic**2).sum()
                (((values - returns[i, chosen]) ** 2).mean() + squares).backward()
                first = 0.9 * first + 0.1 * critic.grad
                second = 0.999 * second + 0.001 * critic.grad**2
                rate = SETTINGS.critic_rate * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
                expected[i] -= rate * first / (second.sqrt() + 1e-7)
    rule.fit_critic(stack, observations, returns, generators())
    torch.testing.assert_close(stack.critic, expected, atol=1e-5, rtol=1e-3)
    assert stack.critic_steps.tolist() == [6, 6, 6]


def test_coefficients_double_halve_and_stay_in_bounds():
    def one(coefficient, distance, floor=1e-8, scale=100.0):
        arrays = (np.array([x]) for x in (coefficient, distance))
        return adapted(*arrays, 1.0, floor, np.array([scale]))[0]

    assert one(0.5, 1.2) == 1.0
    assert one(0.5, 0.8) == 0.25
    assert one(0.5, 1.05) == 0.5 and one(0.5, 0.95) == 0.5
    assert one(15.0, 1.2) == 20.0
    assert one(15.0, 1.2, scale=6.0) == pytest.approx(5.0)  # S over the distance
    assert one(1e-4, 0.1, floor=1e-4) == 1e-4
    assert one(0.0, 5.0, floor=0.3) == 0.0
    assert one(1.0, 0.0) == 0.5


@pytest.mark.parametrize("pull", PULLS.values(), ids=PULLS)
def test_a_stack_is_its_members(pull):
    """Iterations of a stack give each agent what it would get alone."""
    rule = PPOKL(SETTINGS, pull, 11, 2)
    random = np.random.default_rng(5)
    stack = new_stack(rule, random)
    alone = [member(stack, i) for i in range(AGENTS)]
    together, single = generators(), generators()
    for _ in range(2):
        lived = experience(random)
        result = rule.update(stack, lived, together)
        for i in range(AGENTS):
            own = Experience(*(array[i : i + 1] for array in lived))
            apart = rule.update(alone[i], own, single[i : i + 1])
            np.testing.assert_allclose(result.local_kl[i], apart.local_kl[0], rtol=1e-3)
    for i in range(AGENTS):
        torch.testing.assert_close(stack.policy[i], alone[i].policy[0], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(stack.critic[i], alone[i].critic[0], atol=1e-5, rtol=1e-3)
        np.testing.assert_allclose([stack.c1[i], stack.c2[i]], [alone[i].c1[0], alone[i].c2[0]])


def test_initial_kernels_are_glorot_normal():
    rule = PPOKL(PPOKLSettings(learning_rate=1e-3, d_local=1e-2), Pull(), 11, 2)
    policy, _ = rule.initial(np.random.default_rng(0))
    middle = policy[11 * 64 + 64 :][: 64 * 64]
    assert middle.std() == pytest.approx(np.sqrt(2 / 128), rel=0.05)
    assert abs(middle).max() < 2.01 * np.sqrt(2 / 128) / 0.8796
    np.testing.assert_array_equal(policy[-2:], 0.0)
