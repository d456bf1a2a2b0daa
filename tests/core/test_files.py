"""Files are whole or absent, also when the disk is full."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from pfedrl.core.errors import NO_SPACE, PfedrlError
from pfedrl.core.files import atomic_write


def test_file_appears_whole(tmp_path: Path):
    path = tmp_path / "new" / "numbers.csv"
    with atomic_write(path) as temporary:
        temporary.write_text("1,2,3")
        assert not path.exists()
        assert temporary.suffix == ".csv"
    assert path.read_text() == "1,2,3"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [RuntimeError("broken"), OSError(errno.EIO, "device")])
def test_failure_keeps_what_was_there(tmp_path: Path, error: Exception):
    path = tmp_path / "numbers.csv"
    path.write_text("old")
    with pytest.raises(type(error)), atomic_write(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_never_replaced(tmp_path: Path):
    """As root, --output /dev/null took the device away from every program."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/null"), tmp_path):
        with pytest.raises(PfedrlError, match="not a regular file"), atomic_write(path):
            pytest.fail("it began to write")
    assert pipe.is_fifo() and Path("/dev/null").is_char_device()


def test_writers_of_one_file_do_not_share_a_temporary_one(tmp_path: Path):
    """Not even with equal process numbers, as on two machines that share a disk."""
    path = tmp_path / "numbers.csv"
    with atomic_write(path) as first, atomic_write(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first", "the one that ended last, whole"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch):
    path, synced = tmp_path / "numbers.csv", []

    def sync(number: int) -> None:
        synced.append(Path(f"/proc/self/fd/{number}").resolve().name)
        assert not path.exists()

    monkeypatch.setattr(os, "fsync", sync)
    with atomic_write(path) as temporary:
        temporary.write_text("1")
    assert synced == [temporary.name]


def test_full_disk_is_explained(tmp_path: Path):
    path = tmp_path / "numbers.csv"
    path.write_text("old")
    with (
        pytest.raises(PfedrlError, match="disk is full") as caught,
        atomic_write(path) as temporary,
    ):
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.exit_code == NO_SPACE
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def small_disk(tmp_path: Path):
    """A real file system of 64 KB; only root may make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_run_file_on_a_full_disk(small_disk: Path):
    """Arrow and NumPy report a full disk in their own ways; all end in the same message."""
    import numpy as np

    from pfedrl.core.recorder import Recorder
    from pfedrl.pipeline.run_file import write_run

    recorder = Recorder(range(100_000))
    recorder.add("iteration", 0, "value", np.random.default_rng(0).random(100_000))
    with pytest.raises(PfedrlError, match="disk is full"):
        write_run(small_disk / "run.parquet", recorder.columns(), {})
    with (
        pytest.raises(PfedrlError, match="disk is full"),
        atomic_write(small_disk / "draws.npz") as temporary,
    ):
        np.savez(temporary, numbers=np.zeros(10**6))
    assert list(small_disk.iterdir()) == []
