"""What the same numbers on every processor cost: work under the pins against work without them.

Two processes take turns, since libraries choose when they are imported: one held to AVX2, one free
to use what the processor has. Compared is processor time, by the median over turns.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pfedrl.core.processor import NUMBA, PINS, SWITCH

TURNS, PARTS = 5, 5  # the fastest of so many parts of a turn counts
Work = Callable[[], object]


def dqn() -> Work:
    from pfedrl.algorithms.dqn.dqn import DQN
    from pfedrl.benchmarks.deep import SHARED, SIZES, stacked

    learner = stacked(DQN.model_validate(SHARED | next(iter(SIZES.values()))))
    return lambda: learner.advance(20)


def ppo_kl() -> Work:
    from pfedrl.pipeline.cells import find_cell
    from pfedrl.pipeline.project import Project

    cell = find_cell(Project.here(Path.cwd()), "fedkl", "figure6", "fed_kl", "laptop")
    assert cell.family is not None
    learner = cell.runnable.learner(cell.family.task(cell.family.draw([0])), [0])
    learner.observe()
    return lambda: learner.advance(1)


def tabular() -> Work:
    from pfedrl.benchmarks.tabular import fresh
    from pfedrl.pipeline.cells import find_cell
    from pfedrl.pipeline.project import Project

    project = Project.here(Path.cwd())
    learner = fresh(find_cell(project, "qavg", "table1_random_mdps", "qavg_kappa=0.4", "paper"), 64)
    return lambda: learner.advance(10_000)


WORKS = {"DQN 3x128, batch 64": dqn, "PPO-KL (FedKL, Reacher)": ppo_kl, "QAvg, RandomMDPs": tabular}


def seconds(prepare: Callable[[], Work]) -> float:
    """Processor time of a part, compilation aside."""
    work, found = prepare(), []
    work()
    for _ in range(PARTS):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def in_a_process(native: bool) -> list[float]:
    """Seconds of every work, in a process that chooses its instruction set itself or not."""
    ours = {*PINS, *NUMBA, "NPY_DISABLE_CPU_FEATURES", SWITCH}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    if native:
        environment[SWITCH] = "native"
    done = subprocess.run(
        [sys.executable, "-m", "pfedrl.benchmarks.pins"],
        env=environment, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def main() -> None:
    """Print the ratio of the two for each kind of work."""
    turns = [(in_a_process(native=False), in_a_process(native=True)) for _ in range(TURNS)]
    table = Table(title=f"The pins' cost: processor time of a part, in ms; {TURNS} turns each")
    for column in ("work", "pinned", "native", "pinned / native", "from", "to"):
        table.add_column(column, justify="left" if column == "work" else "right")
    for number, name in enumerate(WORKS):
        pinned, native = ([turn[side][number] for turn in turns] for side in (0, 1))
        ratios = sorted(ours / theirs for ours, theirs in zip(pinned, native, strict=True))
        table.add_row(
            name, *(f"{1e3 * statistics.median(side):.1f}" for side in (pinned, native)),
            *(f"{ratio:.3f}" for ratio in (statistics.median(ratios), ratios[0], ratios[-1])),
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    print(json.dumps([seconds(prepare) for prepare in WORKS.values()]))
