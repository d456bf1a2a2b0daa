"""Programs in processes of their own that start quickly, and what two test workers make once."""

import atexit
import fcntl
import multiprocessing
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

# not pfedrl: every project imports its own
LIBRARIES = ["snakemake.cli", "numba", "pandas", "pyarrow.dataset", "scipy.stats", "pytest"]
READY = multiprocessing.get_context("forkserver")
READY.set_forkserver_preload(LIBRARIES)


def call(
    module: str,
    *arguments: str,
    folder: Path,
    variables: dict[str, str],
    together: bool = False,
) -> subprocess.CompletedProcess[str]:
    """`python -m module arguments`, in a copy of a process that has imported the libraries.

    Importing them is most of what a short command does. Both outputs are one, in the order in
    which they are written, if they are wanted `together`.
    """
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place, name) for name in ("stdout", "stdout" if together else "stderr")]
        process = READY.Process(target=_be, args=(module, arguments, folder, variables, files))
        process.start()
        process.join()
        stdout, stderr = (file.read_text() for file in files)
    return subprocess.CompletedProcess([module, *arguments], process.exitcode, stdout, stderr)


def _be(
    module: str, arguments: tuple[str, ...], folder: Path, variables: dict[str, str], files: list
) -> None:
    for stream, file in zip((1, 2), files, strict=True):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = [str(folder), *variables.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()  # a copy ends without


def copy_tree(source: Path, target: Path, *ignored: str) -> None:
    """A copy with the same times of change, whose compiled code is not taken for stale.

    A copy's source has changed later than what was compiled from the original, as far as pfedrl
    can tell; the compiled files are therefore given the time of the copy.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*ignored))
    for cache in target.rglob("__pycache__"):
        for file in cache.iterdir():
            os.utime(file)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made by the first worker that wants it, while the others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with folder.with_suffix(".lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            make(folder)
            lock.write("made")
    return folder
