"""Where a number came from: settings, seeds, versions, commit, time and memory."""

import platform
import resource
import subprocess
import sys
import time
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "pandas",
    "pyarrow",
    "torch",
    "gymnasium",
    "mujoco",
    "libsumo",
    "matplotlib",
)


@cache
def commit() -> str:
    """The commit of the code that runs, marked where files differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        ).stdout.strip()

    try:
        dirty = git("status", "--porcelain", "--untracked-files=no", "--", ".")
        return git("rev-parse", "--short=12", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Python and the packages that this process imported."""
    imported = {name: metadata.version(name) for name in PACKAGES if name in sys.modules}
    return {"python": platform.python_version(), **imported}


@cache
def processor() -> str:
    """The make of the processor, as the system names it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def processor_seconds() -> float:
    """Of this process and of its workers that have ended."""
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + workers.ru_utime + workers.ru_stime


class Stopwatch:
    """Wall and processor time since it was made, and this process's peak memory."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = processor_seconds()

    def read(self) -> dict[str, Any]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "wall_seconds": round(time.perf_counter() - self._wall, 3),
            "cpu_seconds": round(processor_seconds() - self._cpu, 3),
            "peak_memory_mb": round(peak, 1),
        }


def provenance(stopwatch: Stopwatch, **facts: Any) -> dict[str, Any]:
    """Everything a reader needs to trace an artifact."""
    return {**facts, "versions": versions(), "commit": commit(), "processor": processor(),
            **stopwatch.read()}  # fmt: skip
