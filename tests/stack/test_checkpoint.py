"""Checkpoints: taken where they are this run's and whole, refused with the reason where not."""

import pickle
from contextlib import suppress
from pathlib import Path

import pytest

from pfedrl.core.recorder import Recorder
from pfedrl.core.state_file import read_state
from pfedrl.core.stopwatch import Stopwatch
from pfedrl.pipeline.cells import cells
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.loop import Control
from tests.core.test_state_file import same

KEY = {"code": "c", "settings": "s", "seeds": "0-4"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Checkpoint(tmp_path / "run.checkpoint", KEY).save({"round": 3})
    return tmp_path / "run.checkpoint"


def test_its_own_state_is_given_back_without_a_word(path: Path, capsys):
    assert Checkpoint(path, dict(KEY)).load() == {"round": 3}
    assert Checkpoint(path.with_name("none"), KEY).load() is None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"code": "d"}, "was written with other code; the run starts over"),
        ({"settings": "t"}, "with other settings;"),
        ({"seeds": "4-8", "code": "d"}, "with other code and seeds;"),
    ],
)
def test_a_foreign_one_is_refused_with_the_reason(path: Path, capsys, other, reason):
    assert Checkpoint(path, KEY | other).load() is None
    assert reason in capsys.readouterr().err


class Trap:
    def __reduce__(self):
        return Path.touch, (Path("sprung"),)


def test_a_broken_one_is_refused_with_the_reason_and_runs_nothing(path: Path, capsys, monkeypatch):
    monkeypatch.chdir(path.parent)
    whole = path.read_bytes()
    for content in (whole[:-5], b"", whole[:-1] + b"x", pickle.dumps((KEY, Trap()))):
        path.write_bytes(content)
        assert Checkpoint(path, KEY).load() is None
        assert "is broken (" in capsys.readouterr().err
    assert not Path("sprung").exists()


def test_times_go_on(path: Path):
    stopwatch = Stopwatch()
    stopwatch.go_on({"wall_seconds": 100.0, "cpu_seconds": 50.0})
    Checkpoint(path, KEY, stopwatch=stopwatch).save(None)
    later = Checkpoint(path, KEY)
    assert later.stopwatch.read()["wall_seconds"] < 100
    later.load()
    assert later.stopwatch.read()["wall_seconds"] >= 100
    assert later.stopwatch.read()["cpu_seconds"] >= 50
    later.save(None)
    assert read_state(path)["times"]["wall_seconds"] >= 100  # a second kill loses no more


class Twice(Checkpoint):
    """Looks at what it has written, and ends the run when there has been something to learn."""

    def save(self, state) -> None:
        super().save(state)
        assert same(read_state(self.path)["state"], state)
        if state["round"] > 0:
            raise KeyboardInterrupt


def one_cell_an_algorithm(project):
    found = {}
    scale = project.scale("tiny")
    for paper, page in project.papers.items():
        for experiment in page.experiments:
            if project.budget(scale, paper, experiment) is not None:
                for cell in cells(project, paper, experiment, "tiny"):
                    if cell.family is not None and cell.why_not() is None:
                        found.setdefault(cell.algorithm, cell)
    return found


def test_every_algorithms_state_comes_back_as_it_was(project, tmp_path: Path):
    found = one_cell_an_algorithm(project)
    assert len(found) > 20
    for name, cell in found.items():
        seeds = range(2)
        control = Control(2, Twice(tmp_path / name.replace("/", "-"), KEY, seconds=0))
        with suppress(KeyboardInterrupt):
            draws = cell.family.draw(seeds)
            cell.runnable.run(seeds, cell.family, draws, Recorder(seeds), control)
    assert len(list(tmp_path.iterdir())) > 20
