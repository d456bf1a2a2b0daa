"""The figure eight: SUMO as a library against SUMO over a socket; stacked updates against a loop.

Both simulations run the same code of ours on the same episode and must give the same return. Times
are of the whole loop: 14 vehicles read, 7 driven, observations and reward computed. Over a socket
SUMO is a process of its own, so its time is wall time; where the machine is busy with other things,
the smallest of several runs counts.
"""

import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.ppo_kl import kernels
from pfedrl.algorithms.ppo_kl.fed_kl import FedKL
from pfedrl.algorithms.ppo_kl.update import PPOKL, Stack
from pfedrl.benchmarks.reacher import seconds
from pfedrl.envs.experience import Experience
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.simulation import Simulation
from tests.plain.ppo_kl import PlainAgent

STEPS = 500
REPEATS = 3
AGENTS, HORIZON, SEEN = 7, 1500, 6
SETTINGS = FedKL(
    learning_rate=1e-2, d_local=3e-4, d_global=0.15, c1_start=1e-3, communication_rounds=1,
    policy_hidden=(100, 50, 25), critic_hidden=(256, 256),
)  # fmt: skip


def simulate(over_socket: bool) -> tuple[float, float]:
    """Steps a second and the return of an episode's first steps, in this process."""
    family = FigureEightFamily(human_noise=0.0)
    network = family.network(family.draw([0]))
    simulation = Simulation(family, network, import_module("traci") if over_socket else None)
    noise, accelerations = np.zeros(len(simulation.humans)), np.full(family.agents, 3.0)
    fastest = 0.0
    for _ in range(REPEATS):
        simulation.reset()
        total = 0.0
        started = time.perf_counter()
        for _ in range(STEPS):
            simulation.observations()
            total += simulation.step(accelerations, noise).reward
        fastest = max(fastest, STEPS / (time.perf_counter() - started))
    simulation.close()
    return fastest, total


def in_a_process(function: Callable, *arguments: object):
    """A function's result, computed in a process of its own: one simulation each."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def updates() -> tuple[float, float, float]:
    """Seconds of an iteration of 7 agents one by one and stacked; how far the policies differ.

    The settings are the paper's; the experience is random numbers, which cost the same.
    """
    rule = PPOKL(SETTINGS, SETTINGS.pull(), SEEN, 1)
    random = np.random.default_rng(0)
    policy, critic = (torch.from_numpy(row).repeat(AGENTS, 1) for row in rule.initial(random))
    ends = np.zeros((AGENTS, HORIZON), dtype=bool)
    ends[:, -1] = True
    lived = Experience(
        random.standard_normal((AGENTS, HORIZON, SEEN)),
        random.standard_normal((AGENTS, HORIZON, 1)),
        random.random((AGENTS, HORIZON)),
        ends,
    )
    observations = torch.from_numpy(lived.observations.astype(np.float32))
    advantages = rule.advantages(critic, observations, lived.rewards, lived.ends)
    returns = np.empty_like(lived.rewards)
    kernels.discounted(lived.rewards, lived.ends, SETTINGS.discount, returns)

    def stack() -> Stack:
        return Stack(
            policy=policy.clone(), critic=critic.clone(), anchor=policy.clone(),
            first=torch.zeros_like(critic), second=torch.zeros_like(critic),
            critic_steps=np.zeros(AGENTS, np.int64), previous_observations=observations,
            previous_returns=torch.from_numpy(returns.astype(np.float32)),
            seen_before=np.ones(AGENTS, dtype=bool),
            c1=np.full(AGENTS, SETTINGS.c1_start), c2=np.full(AGENTS, SETTINGS.c2_start),
        )  # fmt: skip

    def generators() -> list[np.random.Generator]:
        return [np.random.default_rng(agent) for agent in range(AGENTS)]

    rule.update(stack(), lived, generators())  # compiles
    together = stack()
    stacked = seconds(lambda: rule.update(together, lived, generators()))
    loop = difference = 0.0
    for agent, generator in enumerate(generators()):
        plain = PlainAgent(policy[agent], critic[agent], SETTINGS, SEEN, actions=1)
        own = Experience(*(array[agent : agent + 1] for array in lived))
        batch = (own, advantages[agent : agent + 1], returns[agent : agent + 1], generator)
        loop += seconds(partial(plain.fit, *batch))
        apart = (plain.flat() - together.policy[agent]).abs().max()
        difference = max(difference, float(apart))
    return loop, stacked, difference


def main() -> None:
    """Print both ratios."""
    fast, same = in_a_process(simulate, False)
    slow, expected = in_a_process(simulate, True)
    table = Table(title="Figure eight: steps a second, 14 vehicles read and 7 driven")
    for column in ("traci", "libsumo", "ratio", "difference of the return"):
        table.add_column(column, justify="right")
    table.add_row(f"{slow:.0f}", f"{fast:.0f}", f"{fast / slow:.1f}", f"{abs(same - expected):.1e}")
    Console().print(table)
    loop, stacked, difference = updates()
    table = Table(
        title="PPO-KL: seconds an iteration of 7 agents, the paper's networks, one thread"
    )
    for column in ("one by one", "stacked", "ratio", "largest difference"):
        table.add_column(column, justify="right")
    table.add_row(f"{loop:.2f}", f"{stacked:.2f}", f"{loop / stacked:.1f}", f"{difference:.1e}")
    Console().print(table)
