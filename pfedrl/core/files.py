"""Files that are whole or absent: written under a temporary name, synced, then renamed."""

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pfedrl.core.errors import NO_SPACE, PfedrlError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path beside the file; it takes the file's place only when all went well."""
    if path.exists() and not path.is_file():
        raise PfedrlError(f"{path} is not a regular file. Give the name of a file to write.")
    path.parent.mkdir(parents=True, exist_ok=True)
    # the suffix stays last: writers such as NumPy's and matplotlib's choose the format by it
    temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:12]}{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise PfedrlError(
                f"{path}: the disk is full. Nothing was lost: an earlier version of the file and "
                "every finished job are as they were. Make room and run the same command again.",
                exit_code=NO_SPACE,
            ) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text, whole or not at all, with the same bytes on every system."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
