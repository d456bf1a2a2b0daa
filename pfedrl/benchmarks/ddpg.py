"""Stacked DDPG on Hoppers against a plain single-agent loop, and against its bare products.

The plain loop is PyTorch's modules and autograd over gymnasium, with the same nets, one thread.
Agent-steps include acting, the environment and the update. Nets of 400 and 300 units leave little
to gain: their products alone are most of the time, and both ways must compute them.
"""

import warnings
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.ddpg.ddpg import DDPG
from pfedrl.algorithms.ddpg.learner import DDPGLearner
from pfedrl.benchmarks.deep import fastest
from pfedrl.envs.mujoco.hopper import Hopper
from tests.plain.ddpg import PlainDDPG

AGENTS = 20
WARM_UP = 100
SIZES = {
    "400-300 (both papers)": {"first_width": 400, "second_width": 300},
    "64-64": {"first_width": 64, "second_width": 64},
}
PLAIN_STEPS, STACKED_STEPS = 40, 4


def settings_of(size: dict[str, int]) -> DDPG:
    return DDPG(frames=10**6, local_steps=1, buffer=10_000, warm_up=WARM_UP, **size)


def stacked(settings: DDPG) -> DDPGLearner:
    """Twenty agents of a seed, past their warm-up."""
    family = Hopper(agents=AGENTS, low=0.02, high=0.04, spread=0.02)
    learner = settings.learner(family.task(family.draw([0])), [0])
    learner.advance(WARM_UP + 5)
    return learner


def plain(settings: DDPG) -> PlainDDPG:
    import gymnasium

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = PlainDDPG(settings, gymnasium.make("Hopper-v5"), seed=0)
    for _ in range(WARM_UP + 5):
        agent.step()
    return agent


def products(learner: DDPGLearner) -> Callable[[], None]:
    """The matrix products of one update of all teams, and nothing else."""
    calls = []
    for team in learner.teams:
        rows, batch = team.reward.shape
        for net, forwards in ((learner.net.actor, 2), (learner.net.critic, 3)):
            for number, (_, inputs, outputs) in enumerate(net.layers):
                seen, slope = torch.randn(rows, batch, inputs), torch.randn(rows, batch, outputs)
                matrix = torch.randn(rows, inputs, outputs)
                calls += [(seen, matrix, torch.empty(rows, batch, outputs))] * forwards
                calls.append((seen.transpose(1, 2), slope, torch.empty(rows, inputs, outputs)))
                if number:
                    calls.append((slope, matrix.transpose(1, 2), torch.empty(rows, batch, inputs)))
        # the policy's gradient goes through the critic's head to the action, no further
        head = learner.net.critic.layers[-1]
        slope, matrix = torch.randn(rows, batch, head[2]), torch.randn(rows, head[1], head[2])
        calls.append((slope, matrix.transpose(1, 2), torch.empty(rows, batch, head[1])))

    def run() -> None:
        for left, right, out in calls:
            torch.bmm(left, right, out=out)

    return run


def measure(size: dict[str, int]) -> dict[str, float]:
    """Milliseconds an agent and step, of every way."""
    settings = settings_of(size)
    alone, learner = plain(settings), stacked(settings)
    everyone = ~learner.diverged
    return {
        "plain": 1e3 * fastest(alone.step, PLAIN_STEPS),
        "stacked": 1e3 * fastest(lambda: learner.advance(1), STACKED_STEPS) / AGENTS,
        "update": 1e3 * fastest(lambda: learner._update(everyone, "all"), STACKED_STEPS) / AGENTS,
        "products": 1e3 * fastest(products(learner), STACKED_STEPS) / AGENTS,
    }


def megabytes(learner: DDPGLearner) -> float:
    """All that a learner's stack holds: replays, nets, targets, gradients and moments."""
    replay = learner.experience.replay
    arrays = [*replay.kept, *replay.batch, learner.moments, learner.experience.uniforms]
    tensors = learner.weights, learner.target, learner.gradient
    return (sum(a.nbytes for a in arrays) + sum(t.nbytes for t in tensors)) / 1e6


def main() -> None:
    """Print milliseconds an agent and step, the ratio, and how close the update is to the limit."""
    table = Table(title=f"DDPG on Hopper, {AGENTS} agents: ms an agent and step, one thread")
    for column in ("net", "plain loop", "stacked", "ratio", "agent-steps/s", "update",
                   "products only", "of the limit"):  # fmt: skip
        table.add_column(column, justify="left" if column == "net" else "right")
    for name, size in SIZES.items():
        found = measure(size)
        table.add_row(
            name, f"{found['plain']:.2f}", f"{found['stacked']:.2f}",
            f"{found['plain'] / found['stacked']:.2f}", f"{1e3 / found['stacked']:,.0f}",
            f"{found['update']:.2f}", f"{found['products']:.2f}",
            f"{found['products'] / found['update']:.0%}",
        )  # fmt: skip
    Console().print(table)
