"""Snakemake's cache between workflows: a second clone takes the runs that a first one made."""

from pathlib import Path

import pytest

from pfedrl.core.parquet import read_table
from tests.workflow.conftest import Tiny, copy_of

TARGET = "results/laptop/summaries/tiny/windy.finals.parquet"
RUNS, LOGS = "results/runs", "results/logs/runs"


@pytest.fixture(scope="module")
def clones(fresh: Tiny, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tiny, Tiny]:
    """Two clones with one cache; the first has run."""
    shared = tmp_path_factory.mktemp("cache")
    variables = {"SNAKEMAKE_OUTPUT_CACHE": str(shared)}
    roots = [copy_of(fresh, tmp_path_factory.mktemp(name)).root for name in ("first", "second")]
    first, second = (Tiny(root, variables) for root in roots)
    first.make("--cache", "--", TARGET)
    return first, second


def test_a_second_clone_takes_the_runs_of_the_first(clones: tuple[Tiny, Tiny]):
    first, second = clones
    second.make("--cache", "--", TARGET)
    # to the last byte, with the time that the first one took: nothing ran again
    made = first.files(RUNS)
    assert len(made) == 2 and second.files(RUNS) == made
    assert all(first.files(LOGS).values()) and not any(second.files(LOGS).values())
    for name in made:
        first_seed = int(Path(name).stem.split("-")[0])
        table = read_table(second.root / name)[0]
        assert set(table["seed"].to_pylist()) == set(range(first_seed, first_seed + 4))
    assert second.planned(TARGET) == first.planned(TARGET) == set()


def test_other_code_is_not_served_from_it(clones: tuple[Tiny, Tiny], tmp_path: Path):
    first = clones[0]
    edited = Tiny(copy_of(first, tmp_path).root, first.variables)
    edited.append("pfedrl/algorithms/tabular/qavg.py")
    before = edited.files(RUNS)
    edited.make("--cache", "--", TARGET)
    assert all(edited.files(RUNS)[name] != before[name] for name in before)
    assert first.files(RUNS) == before
