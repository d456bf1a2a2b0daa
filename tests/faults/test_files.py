"""Files that were cut short or whose bits have turned: noticed, named, and made anew."""

from pathlib import Path

import pytest

from pfedrl.analysis.summaries import read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.parquet import read_facts, read_table
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.environments import build, read_draws
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import run_path
from tests.faults.conftest import times
from tests.projects import AVERAGING
from tests.projects import project as made_up
from tests.tiny import Killed

SEEDS = range(4)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    experiment = {"title": "t", "family": {"name": "random_mdp"}, "variants": {"qavg": AVERAGING}}
    return made_up(tmp_path_factory.mktemp("project"), edits={"experiments/e": experiment})


@pytest.fixture(scope="module")
def cell(made: Project) -> Cell:
    return next(cells(made, "p", "e", "s"))


@pytest.fixture(scope="module")
def whole(made: Project, cell: Cell) -> Path:
    path = made.root / run_path(cell, "0-4")
    run(cell, SEEDS, path)
    return path


def rows(path: Path) -> str:
    return str(read_table(path)[0].to_pydict())  # a text: NaN is not equal to itself


def spoilt(content: bytes, random, how: str) -> bytes:
    if how == "cut short":
        return content[: random.integers(len(content))]
    bit = random.integers(8 * len(content))
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("how", ["cut short", "a bit flipped"])
def test_a_run_file(whole: Path, tmp_path: Path, random, fault, how: str):
    path, content, (_, facts) = tmp_path / "run.parquet", whole.read_bytes(), read_table(whole)
    named = 0
    for _ in range(60):
        with fault(f"run file: {how}"):
            path.write_bytes(spoilt(content, random, how))
            try:
                assert rows(path) == rows(whole) and read_facts(path) == facts
            except PfedrlError as error:
                assert error.exit_code == BROKEN_ARTIFACT
                assert f"rm {path} && snakemake" in str(error) and "\n" not in str(error)
                named += 1
            if how == "cut short":
                with pytest.raises(PfedrlError, match=f"rm {path} && snakemake"):
                    read_facts(path)
    assert named == 60 if how == "cut short" else named > 30


@pytest.mark.parametrize("how", ["cut short", "a bit flipped"])
def test_a_summary(made: Project, whole: Path, tmp_path: Path, random, fault, how: str):
    finals = tmp_path / "p" / "e.finals.parquet"
    summarise(made, "p", "e", "s", tmp_path)
    before, content = read_summary(tmp_path, "p", "e").finals, finals.read_bytes()
    for _ in range(times(5, 20)):
        with fault(f"summary: {how}"):
            finals.write_bytes(spoilt(content, random, how))
            try:
                after = read_summary(tmp_path, "p", "e").finals
            except PfedrlError as error:
                assert error.exit_code == BROKEN_ARTIFACT
            else:
                assert after.equals(before) and how != "cut short"


@pytest.mark.parametrize("how", ["cut short", "a bit flipped"])
def test_the_draws_of_a_family(cell: Cell, whole: Path, tmp_path: Path, random, fault, how: str):
    path = tmp_path / "draws.npz"
    build(cell, SEEDS, path)
    content = path.read_bytes()
    drawn = read_draws(path, cell, SEEDS)
    for _ in range(times(5, 20)):
        with fault(f"draws: {how}"):
            path.write_bytes(spoilt(content, random, how))
            try:
                found = read_draws(path, cell, SEEDS)
            except PfedrlError as error:
                assert "\n" not in str(error)
            else:
                assert all((found[name] == drawn[name]).all() for name in drawn)


@pytest.mark.parametrize("how", ["cut short", "a bit flipped"])
def test_a_checkpoint(cell: Cell, whole: Path, tmp_path: Path, random, fault, capsys, how: str):
    """It is refused, with the reason; the run starts over and ends in the same numbers."""
    path = tmp_path / "0-4.parquet"
    checkpoint = path.with_suffix(".checkpoint")

    def kill(done: int, total: int) -> None:
        if done == 8:
            raise Killed

    with pytest.raises(Killed):
        run(cell, SEEDS, path, progress=kill, checkpoint_seconds=0)
    content = checkpoint.read_bytes()
    for _ in range(times(5, 20)):
        with fault(f"checkpoint: {how}"):
            checkpoint.write_bytes(spoilt(content, random, how))
            run(cell, SEEDS, path)
            assert rows(path) == rows(whole)
            assert "the run starts over" in capsys.readouterr().err
            assert not checkpoint.exists()
