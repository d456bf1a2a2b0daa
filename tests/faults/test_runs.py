"""Runs that are killed, lose their simulator, meet a NaN, or whose clock jumps."""

import multiprocessing
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.parquet import read_facts, read_table
from pfedrl.core.registry import is_control
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.execute import run
from tests.faults.conftest import FULL
from tests.tiny import Killed, every_short_run

SEEDS = range(2)
CELLS = every_short_run()
FEW = ("fed_kl-reacher", "lfrl-cartpole", "pfedtd_rep", "qavg-random_mdp")
TABULAR = ("soft_pavg-random_mdp", "proj_pavg-random_mdp")
WALKING = tuple(
    name
    for name, cell in CELLS.items()
    if cell.family_name == "hopper" and not is_control(cell.algorithm)
)


def chosen(wanted: tuple[str, ...]) -> list[str]:
    """All short runs, or the first of each of a few."""
    if FULL:
        return list(CELLS)
    found = (next((name for name in CELLS if name.startswith(start)), None) for start in wanted)
    return [name for name in found if name is not None]


def values(path: Path, seed: int | None = None) -> str:
    rows = read_table(path)[0].to_pylist()
    return str([row for row in rows if seed is None or row["seed"] == seed])


Undisturbed = Callable[[str], tuple[Path, list[int]]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """By name, made once: the file of a run, and the rounds that it told of."""
    folder = tmp_path_factory.mktemp("undisturbed")

    @cache
    def made(name: str) -> tuple[Path, list[int]]:
        path, rounds = folder / f"{name.replace('/', '-')}.parquet", []
        run(CELLS[name], SEEDS, path, progress=lambda done, total: rounds.append(done))
        return path, rounds

    return made


@pytest.mark.parametrize("name", chosen(FEW + TABULAR + WALKING))
def test_a_killed_run_goes_on_to_the_same_numbers(
    name: str, undisturbed: Undisturbed, tmp_path: Path, random, fault
):
    whole, rounds = undisturbed(name)
    if len(rounds) < 2:
        pytest.skip("over in one round: there is nothing to go on from")
    path = tmp_path / "killed.parquet"
    later: list[int] = []
    for at in sorted(random.choice(rounds[:-1], min(2, len(rounds) - 1), replace=False)):

        def kill(done: int, total: int, at: int = at) -> None:
            if done >= at:
                raise Killed

        with fault("run killed between two rounds"), pytest.raises(Killed):
            run(CELLS[name], SEEDS, path, progress=kill, checkpoint_seconds=0)
        assert not path.exists()
    run(CELLS[name], SEEDS, path, progress=lambda done, total: later.append(done))
    assert later == [done for done in rounds if done >= at], "went on from where it was killed"
    assert values(path) == values(whole)
    assert not path.with_suffix(".checkpoint").exists()


TRAFFIC = [name for name, cell in CELLS.items() if cell.family_name == "figure_eight"]


@pytest.mark.parametrize("name", TRAFFIC if FULL else TRAFFIC[:1])
def test_a_simulator_that_dies_is_replaced(
    name: str, undisturbed: Undisturbed, tmp_path: Path, fault
):
    whole, rounds = undisturbed(name)
    path = tmp_path / "run.parquet"
    killed = []

    def kill(done: int, total: int) -> None:
        for worker in multiprocessing.active_children()[:1]:
            if not killed:
                worker.kill()
                killed.append(worker)

    with fault("SUMO that dies"):
        run(CELLS[name], SEEDS, path, progress=kill)
        assert values(path) == values(whole)
        assert killed or len(rounds) < 2


def poisoned(cell: Cell) -> dict[str, np.ndarray] | None:
    """The draws, with NaN in all that the second seed has; None where they are no numbers."""
    assert cell.family is not None
    draws = {name: np.array(drawn) for name, drawn in cell.family.draw(SEEDS).items()}
    floats = [drawn for drawn in draws.values() if drawn.dtype.kind == "f"]
    for drawn in floats:
        drawn[1] = np.nan
    return draws if floats else None


def nan_cells() -> list[str]:
    """Walkers are left out: their number only names a model, which cannot be built of NaN."""
    few = chosen(("qavg-random_mdp", "soft_pavg-windy", "fed_kl-reacher"))
    families = {name: CELLS[name].family for name in few}
    return [
        name
        for name, family in families.items()
        if family and not isinstance(family, WalkerFamily) and poisoned(CELLS[name]) is not None
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", nan_cells())
def test_a_nan_in_one_seed_reaches_no_other(
    name: str, undisturbed: Undisturbed, tmp_path: Path, monkeypatch, fault
):
    cell = CELLS[name]
    whole, _ = undisturbed(name)
    draws = poisoned(cell)
    monkeypatch.setattr(type(cell.family), "draw", lambda self, seeds: draws)
    with fault("NaN in one seed"):
        run(cell, SEEDS, tmp_path / "poisoned.parquet")
        first = SEEDS.start
        assert values(tmp_path / "poisoned.parquet", first) == values(whole, first)


def jumping(random: np.random.Generator) -> Callable[[], float]:
    """A wall clock that leaps by up to a day, forwards or back, whenever it is looked at."""
    real = time.time
    return lambda: real() + random.uniform(-86400, 86400)


@pytest.mark.parametrize("name", chosen(FEW[2:4])[:20])
def test_a_clock_that_jumps(
    name: str, undisturbed: Undisturbed, tmp_path: Path, random, monkeypatch, fault
):
    whole, rounds = undisturbed(name)
    monkeypatch.setattr(time, "time", jumping(random))
    path = tmp_path / "run.parquet"

    def kill(done: int, total: int) -> None:
        if done == rounds[len(rounds) // 2] and len(rounds) > 1:
            raise Killed

    with fault("clock that jumps during a run"):
        if len(rounds) > 1:
            with pytest.raises(Killed):
                run(CELLS[name], SEEDS, path, progress=kill, checkpoint_seconds=0)
        run(CELLS[name], SEEDS, path)
        assert values(path) == values(whole)
        assert 0 <= read_facts(path)["wall_seconds"] < 3600
