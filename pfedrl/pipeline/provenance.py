"""Where a number came from: settings, seeds, versions, commit, time and memory."""

import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pfedrl.core.stopwatch import Stopwatch

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
    """The commit of the code that runs, marked where files of this folder differ from it.

    Of this folder only: to look further would be other code, by its fingerprint, behind every run.
    Whether the rest of the code is that of the commit is what the fingerprint tells.
    """

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


def provenance(stopwatch: Stopwatch, **facts: Any) -> dict[str, Any]:
    """Everything a reader needs to trace an artifact."""
    return {**facts, "versions": versions(), "commit": commit(), "processor": processor(),
            **stopwatch.read()}  # fmt: skip
