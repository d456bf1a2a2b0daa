"""Stacked DQN against a plain single-agent loop, and against its bare matrix products."""

import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from pfedrl.algorithms.dqn.dqn import DQN
from pfedrl.algorithms.dqn.learner import DQNLearner
from pfedrl.benchmarks.plain_dqn import PlainDQN
from pfedrl.envs.classic.cartpole import CartPole

AGENTS, SEEDS = 10, 5
SHARED = {"episodes": 10_000, "unit": "step", "local_steps": 1, "learning_rate": 1e-3,
          "gamma": 0.98, "epsilon": 0.01}  # fmt: skip
SIZES = {
    "3x128, batch 64 (PFedRL-Rep)": {"layers": 3, "batch": 64, "buffer": 10_000, "warm_up": 500,
                                     "target_every": 30},
    "1x128, batch 16 (QAvg)": {"layers": 1, "batch": 16, "buffer": 1000, "warm_up": 32,
                               "target_every": 10},
}  # fmt: skip
PLAIN_STEPS, STACKED_STEPS, PARTS = 600, 60, 5  # the fastest of so many parts counts


def fastest(run: Callable[[], object], steps: int) -> float:
    """Seconds a step of this process's processor time, so that neighbours weigh less."""
    found = []
    for _ in range(PARTS):
        started = time.process_time()
        for _ in range(steps):
            run()
        found.append((time.process_time() - started) / steps)
    return min(found)


def stacked(settings: DQN) -> DQNLearner:
    """Ten agents of five seeds, past their warm-up."""
    family = CartPole(agents=AGENTS, low=0.4, high=0.7, cap=200)
    learner = settings.learner(family.task(family.draw(range(SEEDS))), range(SEEDS))
    learner.advance(settings.warm_up + 10)
    return learner


def products(learner: DQNLearner) -> Callable[[], None]:
    """The matrix products of one update and nothing else."""
    forward, backward = [], []
    rows = learner.weights.shape[0]
    batch = learner.settings.batch
    for number, (_, inputs, outputs) in enumerate(learner.net.layers):
        seen, slope = torch.randn(rows, batch, inputs), torch.randn(rows, batch, outputs)
        matrix = torch.randn(rows, inputs, outputs)
        forward += [(seen, matrix, torch.empty(rows, batch, outputs))] * 2  # the target net's too
        backward.append((seen.transpose(1, 2), slope, torch.empty(rows, inputs, outputs)))
        if number:
            backward.append((slope, matrix.transpose(1, 2), torch.empty(rows, batch, inputs)))

    def run() -> None:
        for left, right, out in (*forward, *backward):
            torch.bmm(left, right, out=out)

    return run


def measure(size: dict[str, int]) -> dict[str, float]:
    """Microseconds an agent and step, of every way."""
    settings = DQN.model_validate(SHARED | size)
    plain = PlainDQN(settings, seed=0)
    for _ in range(settings.warm_up + 10):
        plain.step()
    learner = stacked(settings)
    everyone = learner.experience.replay.size > 0
    replicas = AGENTS * SEEDS
    return {
        "plain": 1e6 * fastest(plain.step, PLAIN_STEPS),
        "stacked": 1e6 * fastest(lambda: learner.advance(1), STACKED_STEPS) / replicas,
        "update": 1e6 * fastest(lambda: learner._update(everyone, "all"), STACKED_STEPS) / replicas,
        "products": 1e6 * fastest(products(learner), STACKED_STEPS) / replicas,
    }


def main() -> None:
    """Print microseconds an agent and step, the ratio, and how close the update is to the limit."""
    table = Table(title=f"DQN, {AGENTS} agents x {SEEDS} seeds: us an agent and step, one thread")
    for column in ("net", "plain loop", "stacked", "ratio", "steps/s", "update", "products only",
                   "of the limit"):  # fmt: skip
        table.add_column(column, justify="left" if column == "net" else "right")
    for name, size in SIZES.items():
        found = measure(size)
        table.add_row(
            name, f"{found['plain']:.0f}", f"{found['stacked']:.1f}",
            f"{found['plain'] / found['stacked']:.1f}", f"{1e6 / found['stacked']:,.0f}",
            f"{found['update']:.1f}", f"{found['products']:.1f}",
            f"{found['products'] / found['update']:.0%}",
        )  # fmt: skip
    Console().print(table)
