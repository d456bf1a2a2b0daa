"""Where SUMO is, and whether it is the version that we calibrated with."""

import contextlib
import io
import os
import re
import shutil
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pfedrl.core.errors import PfedrlError

VERSION = "1.28"
INSTALL = f"Install it: pip install 'libsumo=={VERSION}.*' 'eclipse-sumo=={VERSION}.*'"


@cache
def libsumo() -> ModuleType:
    """The simulator as a library. Only worker processes load it: one simulation a process.

    It must not share a process with pyarrow, whose libraries it brings in another version; it says
    so on standard output whenever pyarrow is installed, which would be noise in every log.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            module = import_module("libsumo")
    except (ImportError, OSError) as error:
        raise PfedrlError(
            f"SUMO is missing: libsumo cannot be loaded ({error}). {INSTALL}"
        ) from None
    check_version("libsumo", module.getVersion()[1])
    return module


@cache
def program(name: str) -> Path:
    """A program of SUMO, such as netconvert; the wheel beside this Python goes before the PATH."""
    candidates = []
    with contextlib.suppress(ImportError):
        candidates.append(Path(import_module("sumo").SUMO_HOME) / "bin" / name)
    if (found := shutil.which(name)) is not None:
        candidates.append(Path(found))
    for path in candidates:
        if os.access(path, os.X_OK):
            check_version(name, run(path, "--version"))
            return path
    raise PfedrlError(f"SUMO is missing: there is no program '{name}'. {INSTALL}")


def run(path: Path, *arguments: str) -> str:
    """What a program prints; its complaint as one message where it fails."""
    try:
        done = subprocess.run(
            [str(path), *arguments], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PfedrlError(f"SUMO's {path.name} does not run ({error}). {INSTALL}") from None
    if done.returncode != 0:
        complaint = next(iter(done.stderr.strip().splitlines()), f"exit {done.returncode}")
        raise PfedrlError(f"SUMO's {path.name} failed: {complaint}")
    return done.stdout


def check_version(name: str, text: str) -> None:
    """Refuse another version than the one our calibration stands for."""
    found = re.search(r"\b(\d+\.\d+)(\.\d+)?", text)
    version = found.group(0) if found else "unknown"
    if found is None or found.group(1) != VERSION:
        raise PfedrlError(
            f"SUMO has the wrong version: {name} is {version}, the traffic experiments are "
            f"calibrated with {VERSION}. {INSTALL}"
        )
