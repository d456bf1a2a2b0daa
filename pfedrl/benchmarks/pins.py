"""What the same numbers on every processor cost: work under the pins against work without them.

Processes take turns, since libraries choose when they are imported: one held to AVX2 and to one
order of summation, one free to use what the processor has, and one free but for what lies above
AVX2. Against the first of these two, the pins cost what wider vectors would gain; against the
second, what the fixed order costs, which is all where a processor has no AVX-512. Compared is
processor time, by the median over turns.
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


NATIVE = {SWITCH: "native"}
SIDES: dict[str, dict[str, str]] = {
    "pinned": {},
    "native": NATIVE,
    # what a processor without AVX-512 would do, if this is one that has it
    "native with AVX2": NATIVE
    | NUMBA
    | {name: value for name, value in PINS.items() if name != "MKL_CBWR"}
    | {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}


def seconds(prepare: Callable[[], Work]) -> float:
    """Processor time of a part, compilation aside."""
    work, found = prepare(), []
    work()
    for _ in range(PARTS):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def in_a_process(choice: dict[str, str]) -> list[float]:
    """Seconds of every work, in a process with these variables and no others of the pins'."""
    ours = {*PINS, *NUMBA, "NPY_DISABLE_CPU_FEATURES", SWITCH}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    done = subprocess.run(
        [sys.executable, "-m", "pfedrl.benchmarks.pins"],
        env=environment | choice, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def main() -> None:
    """Print the ratios for each kind of work: the median over turns, and how far they vary."""
    turns = [{name: in_a_process(choice) for name, choice in SIDES.items()} for _ in range(TURNS)]
    table = Table(title=f"The pins' cost: processor time of a part, in ms, {TURNS} turns each")
    others = [name for name in SIDES if name != "pinned"]
    for column in ("work", *SIDES, *(f"pinned / {name}" for name in others)):
        table.add_column(column, justify="left" if column == "work" else "right")
    for number, work in enumerate(WORKS):
        spent = {name: [turn[name][number] for turn in turns] for name in SIDES}
        row = [f"{1e3 * statistics.median(spent[name]):.1f}" for name in SIDES]
        for name in others:
            ratios = [a / b for a, b in zip(spent["pinned"], spent[name], strict=True)]
            middle = statistics.median(ratios)
            row.append(f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        table.add_row(work, *row)
    Console().print(table)


if __name__ == "__main__":
    print(json.dumps([seconds(prepare) for prepare in WORKS.values()]))
