"""PFedTD-Rep on CliffWalking: 32 agents of 64 seeds for 10,000 rounds, on one core."""

import time

from rich.console import Console

from pfedrl.algorithms.td.pfedtd_rep import PFedTDRep
from pfedrl.core.recorder import Recorder
from pfedrl.envs.tabular.cliff_walking import CliffWalking
from pfedrl.stack.loop import Control, train

AGENTS, SEEDS, ROUNDS = 32, 64, 10_000


def seconds(rounds: int) -> tuple[float, float]:
    """Processor and wall time of so many rounds, compilation aside."""
    family = CliffWalking(gamma=0.9, agents=AGENTS)
    task = family.task(family.draw(range(SEEDS)))
    algorithm = PFedTDRep(
        training_rounds=rounds, local_steps=10, alpha=10, alpha_power=5 / 6, beta=2, beta_power=1
    )
    algorithm.learner(task, range(SEEDS)).advance(1)  # compiles
    learner = algorithm.learner(task, range(SEEDS))
    processor, wall = time.process_time(), time.perf_counter()
    exchange = algorithm.exchange(task, range(SEEDS))
    train(learner, exchange, algorithm.rounds(), Recorder(range(SEEDS)), Control())
    return time.process_time() - processor, time.perf_counter() - wall


def main() -> None:
    """Print how long it takes; the project's budget is 60 s."""
    processor, wall = seconds(ROUNDS)
    Console().print(
        f"PFedTD-Rep, {AGENTS} agents, {SEEDS} seeds, {ROUNDS:,} rounds of 10 transitions: "
        f"{processor:.0f} s of one core ({wall:.0f} s by the clock)"
    )
