"""Disks that are full, folders that may not be written to, files that may not grow."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pfedrl.core.errors import NO_SPACE
from tests.faults.conftest import times
from tests.tiny import ROOT

RUN = ("run", "qavg", "table1_random_mdps", "qavg_kappa=0.2", "--seeds", "0-200")


def pfedrl(*arguments: str, before: Callable[[], None] | None = None):
    return subprocess.run(
        [sys.executable, "-m", "pfedrl", *arguments],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        preexec_fn=before,
    )  # fmt: skip


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A small file system with options; only root may make one."""
    mounted: list[Path] = []

    def made(options: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
            pytest.skip("mounting a small file system needs root")
        mounted.append(folder)
        return folder

    yield made
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == NO_SPACE, done.stderr
    *progress, said = done.stderr.splitlines()  # on a busy machine it tells how far it is
    assert said.startswith("pfedrl: "), done.stderr
    assert all(" of 32" in line for line in progress), done.stderr
    return said


def test_a_full_disk(mount, fault):
    for number in range(times(1, 6)):
        with fault("disk full"):
            disk = mount(f"size={4 * (1 + number % 2)}k")
            (disk / "run.parquet").write_bytes(b"an older one")
            said = one_line(pfedrl(*RUN, "--output", str(disk / "run.parquet")))
            assert "disk is full" in said
            assert [path.name for path in disk.iterdir()] == ["run.parquet"]
            assert (disk / "run.parquet").read_bytes() == b"an older one"


def test_a_full_disk_that_holds_the_log_as_well(mount, fault):
    for _ in range(times(1, 3)):
        with fault("disk full, with the log on it"):
            disk = mount("size=8k")
            (disk / "run.log").write_bytes(b"")
            (disk / "ballast").write_bytes(bytes(8192))
            output = str(disk / "run.parquet")
            said = one_line(pfedrl("--log", str(disk / "run.log"), *RUN, "--output", output))
            assert "full" in said or "No space" in said
            assert not (disk / "run.parquet").exists()


def test_a_read_only_folder(mount, fault):
    for arguments in (RUN, ("build", *RUN[1:]))[: times(1, 2)]:
        with fault("folder that may not be written to"):
            output = mount("ro") / "file.npz"
            assert "Read-only" in one_line(pfedrl(*arguments, "--output", str(output)))


def test_files_that_may_not_grow(tmp_path: Path, fault):
    for number in range(times(1, 6)):
        limit = 500 * (1 + number)

        def small(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with fault("file that may not grow"):
            output = tmp_path / "run.parquet"
            assert "too large" in one_line(pfedrl(*RUN, "--output", str(output), before=small))
            assert list(tmp_path.iterdir()) == []
