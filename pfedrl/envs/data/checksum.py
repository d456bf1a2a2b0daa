"""The digest of a data set's arrays on this disk, computed again only where the file changed."""

from contextlib import suppress
from pathlib import Path

from pfedrl.core.files import atomic_write
from pfedrl.envs.data.data_sets import Arrays, digest, path_of, read


def arrays_digest(name: str) -> str:
    """By the arrays themselves; the file's size and times tell whether it is known already."""
    path = path_of(name)
    status = path.stat()
    stamp = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    known = path.with_suffix(".sha256")
    if (found := _known(known, stamp)) is None:
        found = digest(Arrays(*read(name, *Arrays._fields)))
        with suppress(OSError), atomic_write(known) as temporary:  # the folder may be read-only
            temporary.write_text(f"{stamp} {found}", encoding="utf-8")
    return found


def _known(path: Path, stamp: str) -> str | None:
    if not path.exists():
        return None
    before, _, found = path.read_text(encoding="utf-8").rpartition(" ")
    return found if before == stamp else None
