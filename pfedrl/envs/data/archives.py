"""Wanted files out of whatever a source gave: plain files, tar and zip archives, Debian packages.

Nothing but the wanted files is written, each under its own name in one folder. An archive with a
member that would land outside of its folder is refused as a whole.
"""

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO

from pfedrl.core.errors import PfedrlError


def collect(folder: Path, patterns: list[str], into: Path) -> None:
    """The wanted files under a folder and in the archives there, put side by side."""
    for path in sorted(folder.rglob("*")):
        if path.name.endswith((".tar.gz", ".tgz", ".tar", ".deb")):
            _from_tar(path, patterns, into)
        elif path.suffix == ".zip":
            _from_zip(path, patterns, into)
        elif path.is_file() and _wanted(path.name, patterns):
            with path.open("rb") as file:
                _put(file, path.name, into)


def _wanted(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name.removesuffix(".gz"), pattern) for pattern in patterns)


def _put(file: IO[bytes], name: str, into: Path) -> None:
    if (into / name).exists():
        raise PfedrlError(f"{name} is there twice; remove one of them.")
    with (into / name).open("wb") as copy:
        shutil.copyfileobj(file, copy)


def _from_tar(path: Path, patterns: list[str], into: Path) -> None:
    try:
        with _tar(path) as archive:
            for member in archive:
                tarfile.data_filter(member, str(into))  # refuses what leads outside
                name = PurePosixPath(member.name).name
                if member.isfile() and _wanted(name, patterns):
                    held = archive.extractfile(member)
                    assert held is not None
                    _put(held, name, into)
    except tarfile.FilterError as error:
        raise _refused(path, str(error)) from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise PfedrlError(f"{path.name}: cannot be unpacked ({error}).") from None


@contextmanager
def _tar(path: Path) -> Iterator[tarfile.TarFile]:
    """A tar archive, or the one inside a Debian package."""
    if path.suffix != ".deb":
        with tarfile.open(path) as archive:
            yield archive
        return
    command = ["dpkg-deb", "--fsys-tarfile", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            yield archive
        assert process.stdout is not None
        process.stdout.read()  # the padding after the archive's end


def _from_zip(path: Path, patterns: list[str], into: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                place = PurePosixPath(member.filename.replace("\\", "/"))
                if place.is_absolute() or ".." in place.parts:
                    raise _refused(path, f"'{member.filename}' leads outside")
                if not member.is_dir() and _wanted(place.name, patterns):
                    with archive.open(member) as held:
                        _put(held, place.name, into)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise PfedrlError(f"{path.name}: cannot be unpacked ({error}).") from None


def _refused(path: Path, reason: str) -> PfedrlError:
    return PfedrlError(f"{path.name}: is rejected: it would write outside its folder ({reason}).")
