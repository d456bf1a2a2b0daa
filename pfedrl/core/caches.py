"""Compiled code that may be older than its source is removed before it can be loaded.

Python and numba compare a source's size and time of modification, which an unpacked archive or a
restored backup may leave equal though the text changed. The time at which the file itself changed
(ctime) cannot be set: whatever was compiled before it is stale. A numba kernel holds code of others
that it calls, so all kernels are compiled again where the source of one changed.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent.parent
KERNELS = (".nbi", ".nbc")


def drop_stale(package: Path = PACKAGE) -> None:
    """Remove stale files from the caches of a package; what cannot be removed stays."""
    modules, kernels, newest = [], [], 0
    for cache in package.rglob("__pycache__"):
        changed = {path.stem: path.stat().st_ctime_ns for path in cache.parent.glob("*.py")}
        for file in cache.iterdir():
            source = changed.get(file.name.split(".")[0])
            if source is None:
                continue
            if file.suffix in KERNELS:
                kernels.append(file)
                newest = max(newest, source)
            else:
                modules.append((file, source))
    for file, source in [*modules, *((file, newest) for file in kernels)]:
        try:
            if file.stat().st_mtime_ns <= source:
                file.unlink()
        except OSError:  # another process was faster, or the folder is read-only
            continue
