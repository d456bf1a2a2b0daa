"""A round of FedKL on Reacher: the stack against one agent after another in PyTorch and gymnasium.

Both ways run the paper's settings: K=3 agents of 3 seeds, I=20 iterations of 2,050 steps, 10 epochs
of the policy and 30 of the critic. Iterations are alike, so a few are timed (processor time, one
thread) and the round is that many times longer. On the same batch and the same order of samples
both ways arrive at the same policy.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.ppo_kl import kernels
from pfedrl.algorithms.ppo_kl.fed_kl import FedKL
from pfedrl.algorithms.ppo_kl.learner import FederatedPPO, Server
from pfedrl.algorithms.ppo_kl.update import Stack
from pfedrl.envs.experience import Experience
from pfedrl.envs.mujoco.reacher import Reacher
from tests.plain.ppo_kl import PlainAgent

SEEDS, TIMED_STACKED, TIMED_PLAIN = 3, 2, 2  # iterations timed: of the stack, of one agent
SETTINGS = FedKL(learning_rate=1e-3, d_local=1e-2, d_global=0.6, communication_rounds=1)


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def stacked_seconds() -> float:
    """A round of all seeds' agents."""
    family = Reacher()
    learner = SETTINGS.learner(family.task(family.draw(range(SEEDS))), range(SEEDS))
    learner.advance(1)  # compiles
    took = seconds(lambda: learner.advance(TIMED_STACKED))
    return took * SETTINGS.local_iterations / TIMED_STACKED


def plain_seconds() -> tuple[float, float]:
    """The same round, agent after agent; and how far the policies of both ways are apart."""
    import gymnasium

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of v4 being out of date
        env = gymnasium.make("Reacher-v4")
    env.reset(seed=0)
    family = Reacher()
    learner = SETTINGS.learner(family.task(family.draw([0])), [0])
    stack, lived, advantages, returns = first_batch(learner)
    agent = PlainAgent(stack.policy[0], stack.critic[0], SETTINGS, seen=11, actions=2)
    random = np.random.default_rng(0)
    took = seconds(lambda: agent.collect(env))
    took += seconds(lambda: agent.fit(lived, advantages, returns, random))
    learner.rule.update(stack, lived, [np.random.default_rng(0)])
    difference = float((agent.flat() - stack.policy[0]).abs().max())
    for _ in range(TIMED_PLAIN - 1):
        took += seconds(lambda: agent.collect(env))
        took += seconds(lambda: agent.fit(lived, advantages, returns, random))
    agents = SEEDS * SETTINGS.selected
    return took / TIMED_PLAIN * agents * SETTINGS.local_iterations, difference


def first_batch(learner: FederatedPPO) -> tuple[Stack, Experience, np.ndarray, np.ndarray]:
    """One agent before its first iteration, with the batch of that iteration."""
    server = Server(*(part[:, 0] + 0.0 for part in learner.parts.values()))
    seed = agent = np.zeros(1, dtype=int)
    stack = learner.stack(server, seed, agent)
    generators = [np.random.default_rng(1)]
    lived, _ = learner.collect(stack.policy, seed, agent, SETTINGS.episodes, generators)
    observations = torch.from_numpy(lived.observations.astype(np.float32))
    advantages = learner.rule.advantages(stack.critic, observations, lived.rewards, lived.ends)
    returns = np.empty_like(lived.rewards)
    kernels.discounted(lived.rewards, lived.ends, SETTINGS.discount, returns)
    return stack, lived, advantages, returns


def main() -> None:
    """Print the ratio of the two ways."""
    plain, difference = plain_seconds()
    stacked = stacked_seconds()
    table = Table(title=f"FedKL on Reacher: processor seconds a round, K=3 agents of {SEEDS} seeds")
    for column in ("one agent after another", "stacked", "ratio", "largest difference"):
        table.add_column(column, justify="right")
    table.add_row(f"{plain:.0f}", f"{stacked:.1f}", f"{plain / stacked:.1f}", f"{difference:.1e}")
    Console().print(table)
    Console().print(
        f"Extrapolated from {TIMED_PLAIN} iterations of one agent and {TIMED_STACKED} of the stack."
    )
