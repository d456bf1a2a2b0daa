"""Hoppers and HalfCheetahs: all rows in one call against gymnasium's vector environments.

Twenty rows take the same random actions from the same starts and are reset where they end: on two
threads here, one after the other (sync) or in a process each (async) there. What is seen at the end
must be equal to the bit. The ways take turns. Wall time is what two idle cores are judged by; on a
busy machine it is what the scheduler gives, much to twenty processes and little to two threads, so
that processor time is compared as well.
"""

import contextlib
import os
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import gymnasium
import numpy as np
import psutil
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from rich.console import Console
from rich.table import Table

from pfedrl.envs.mujoco.models import compiled
from pfedrl.envs.mujoco.stepping import WalkerEnvironments
from pfedrl.envs.views.walkers import FAMILIES

ROWS, STEPS, TURNS, THREADS = 20, 100, 5, 2
TASKS = {"hopper": "Hopper-v5", "half_cheetah": "HalfCheetah-v5"}
GYMNASIUM = ("sync", "async")
Way = Callable[[np.ndarray], np.ndarray]  # what is seen last, by actions [step, row, number]


class Turn(NamedTuple):
    """What one way took, in seconds, and what it saw last."""

    wall: float
    processor: float
    seen: np.ndarray


def ours(name: str, threads: int) -> Way:
    family = FAMILIES[name](agents=1, low=0.04, high=0.04)
    models = [compiled(family.asset)] * ROWS
    environments = WalkerEnvironments(family.walker(), models, family.cap, threads)

    def live(actions: np.ndarray) -> np.ndarray:
        generators = [np_random(row)[0] for row in range(ROWS)]
        everyone = np.ones(ROWS, np.bool_)
        environments.reset(np.arange(ROWS), environments.starts(generators))
        for action in actions:
            environments.step(action, everyone)
            over = np.flatnonzero(environments.terminated | environments.truncated)
            if len(over):
                environments.reset(over, environments.starts([generators[row] for row in over]))
        return environments.observation.copy()

    return live


def gymnasiums(name: str, mode: str, opened: contextlib.ExitStack) -> Way:
    how = {"autoreset_mode": AutoresetMode.SAME_STEP}
    environments = gymnasium.make_vec(
        TASKS[name], num_envs=ROWS, vectorization_mode=mode, vector_kwargs=how
    )
    opened.callback(environments.close)  # or its processes are left to be killed

    def live(actions: np.ndarray) -> np.ndarray:
        seen, _ = environments.reset(seed=0)
        for action in actions:
            seen, *_ = environments.step(action)
        return seen

    return live


def processor_seconds() -> float:
    """Of this process and of those that it has started."""
    here = psutil.Process()
    return sum(sum(one.cpu_times()[:2]) for one in (here, *here.children(recursive=True)))


def taken(way: Way, actions: np.ndarray) -> Turn:
    used, started = processor_seconds(), time.perf_counter()
    seen = way(actions)
    return Turn(time.perf_counter() - started, processor_seconds() - used, seen)


def main() -> None:
    """Print steps a second and the ratios, and whether all ways saw the same."""
    table = Table(title=f"{ROWS} walkers: against {THREADS} threads of ours, {TURNS} turns each")
    for column in ("task", "way", "steps a second", "wall time", "processor time", "same bits"):
        table.add_column(column, justify="left" if column in ("task", "way") else "right")
    for name, task in TASKS.items():
        ways = {f"{THREADS} threads": ours(name, THREADS), "1 thread": ours(name, 1)}
        size = compiled(FAMILIES[name].asset).nu
        actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, ROWS, size)).astype(np.float32)
        with contextlib.ExitStack() as opened:
            ways |= {f"gymnasium, {mode}": gymnasiums(name, mode, opened) for mode in GYMNASIUM}
            turns = [[taken(way, actions) for way in ways.values()] for _ in range(1 + TURNS)][1:]
        first, *_ = reference = next(zip(*turns, strict=True))
        for way, own in zip(ways, zip(*turns, strict=True), strict=True):
            wall = statistics.median(turn.wall for turn in own)
            ratios = [
                statistics.median(
                    getattr(turn, kind) / getattr(base, kind)
                    for turn, base in zip(own, reference, strict=True)
                )
                for kind in ("wall", "processor")
            ]
            same = all(np.array_equal(turn.seen, first.seen) for turn in own)
            rates = (f"{STEPS * ROWS / wall:,.0f}", *(f"{ratio:.1f}" for ratio in ratios))
            table.add_row(task, way, *rates, "yes" if same else "no")
    Console().print(table)
    busy, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    Console().print(f"Load {busy:.1f} on {cores} cores at the end.")
