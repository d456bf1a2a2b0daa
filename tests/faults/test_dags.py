"""Real DAGs that are killed, started twice, whose disk fills or whose clock jumps."""

import base64
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfedrl.pipeline.cells import find_cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import run_path
from tests.faults.conftest import times
from tests.workflow.conftest import FIGURES, Tiny, copy_of, gated

NUMBERS = (f"{FIGURES}/tiny/figure1.csv", f"{FIGURES}/tiny/table1.csv")[: times(1, 2)]
TARGETS = ("--", *NUMBERS)


def numbers(tiny: Tiny) -> dict[str, bytes]:
    return {name: (tiny.root / name).read_bytes() for name in NUMBERS}


def kept(tiny: Tiny) -> dict[str, bytes]:
    """Draws and runs that are finished, each under its own name.

    A job that was killed with its pipeline after it had written, and before Snakemake had noted
    it, counts as unfinished and is made again: Snakemake's marks say which.
    """
    files = tiny.files("results/envs") | tiny.files("results/runs")
    marks = (tiny.root / ".snakemake" / "incomplete").glob("*")
    unfinished = {base64.b64decode(mark.name).decode() for mark in marks}
    return {
        name: content
        for name, content in files.items()
        if Path(name).name[0] != "." and name not in unfinished
    }


def moments(tiny: Tiny, random, count: int) -> Iterator[int]:
    """Sizes of the results at which to strike: between nothing and everything."""
    yield from sorted(random.integers(0, times(8, 25), count))


def files_under(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][: times(1, 3)])
def test_a_pipeline_that_is_killed(new_project: Tiny, finished: Tiny, random, fault, number):
    folder = new_project.root / "results"
    for at in moments(new_project, random, times(1, 7)):
        with fault(f"pipeline ended by {number.name}"):
            before = kept(new_project)
            process = new_project.start(*TARGETS)
            while process.poll() is None and files_under(folder) < at:
                time.sleep(0.01)
            os.killpg(process.pid, number)
            process.communicate()
            assert before.items() <= kept(new_project).items(), "finished jobs stay"
            if any((new_project.root / ".snakemake" / "locks").glob("*")):
                new_project.make("--unlock")
    new_project.make(*TARGETS)
    assert numbers(new_project) == numbers(finished)
    assert "Nothing to be done" in new_project.make(*TARGETS)
    left = [path for path in folder.rglob("*") if path.name.startswith(".") and path.is_file()]
    assert not [path for path in left if path.suffix not in (".npz", ".parquet")], left


def test_two_pipelines_in_one_folder(new_project: Tiny, finished: Tiny, fault):
    """The second is refused, as often as it is tried; the first, which is at work, ends well."""
    tiny = gated(new_project)
    first = tiny.start(*TARGETS)
    while 3 not in tiny.rounds() and first.poll() is None:
        time.sleep(0.05)
    for _ in range(times(1, 3)):
        with fault("two pipelines at once"):
            second = tiny.snakemake(*TARGETS)
            assert second.returncode != 0 and "cannot be locked" in second.stdout
            assert "Traceback" not in second.stdout
            assert first.poll() is None
    tiny.open_gate()
    output, _ = first.communicate()
    assert first.returncode == 0, output
    assert numbers(tiny) == numbers(finished)


@pytest.mark.parametrize("seconds", [-86400, 86400][: times(1, 2)])
def test_a_clock_that_has_jumped(project: Tiny, finished: Tiny, fault, seconds: int):
    """What a jump leaves behind: half of the files are of another day."""
    for number in range(times(1, 2)):
        with fault("clock that jumped between two runs"):
            paths = sorted(path for path in (project.root / "results").rglob("*") if path.is_file())
            for path in paths[number::2]:
                moved = path.stat().st_mtime + seconds
                os.utime(path, (moved, moved))
            project.make(*TARGETS)
            assert numbers(project) == numbers(finished)


def test_a_disk_that_fills(fresh: Tiny, finished: Tiny, tmp_path: Path, fault):
    """One clear error on the console; with room made, the same command goes on to the numbers."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        tiny = copy_of(fresh, disk)
        cell = find_cell(Project(tiny.root), "tiny", "windy", "qavg", "laptop")
        tiny.make(str(run_path(cell, "0-4")))
        before = kept(tiny)
        ballast = disk / "ballast"
        with fault("disk that fills under a pipeline"):
            with ballast.open("wb", buffering=0) as file:
                try:
                    while file.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            done = tiny.snakemake(*TARGETS)
            assert done.returncode != 0
            assert "No space left" in done.stdout or "full" in done.stdout, done.stdout
            ballast.unlink()
            assert kept(tiny) == before
            tiny.make("--unlock")
            tiny.make(*TARGETS)
            assert numbers(tiny) == numbers(finished)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
