"""Archives that lead outside their folder, and packages that changed on their way."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.envs.data.archives import collect
from pfedrl.envs.data.fetch import fetch
from tests.envs.data.test_fetch import left, package
from tests.faults.conftest import times
from tests.faults.test_files import spoilt

OUTSIDE = ("../harm", "../../harm", "/harm", "a/../../harm", "/etc/harm", "..\\harm")


@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_an_archive_that_leads_outside(kind: str, tmp_path: Path, fault):
    for number, name in enumerate(OUTSIDE):
        with fault("archive that leads outside"):
            given, into = (tmp_path / str(number) / part for part in ("in", "out"))
            given.mkdir(parents=True)
            into.mkdir()
            _archive(given / f"bad.{kind}", name)
            before = set(tmp_path.rglob("*"))
            try:
                collect(given, ["harm"], into)
            except PfedrlError as error:
                assert "outside" in str(error)
                assert set(tmp_path.rglob("*")) == before
            else:  # the name was taken without its way
                assert set(tmp_path.rglob("*")) - before <= {into / "harm"}
                assert not name.startswith("..") or "\\" in name


def _archive(path: Path, name: str) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"harm")
        return
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = 4
        tar.addfile(member, io.BytesIO(b"harm"))


@pytest.mark.parametrize("how", ["cut short", "a bit flipped"])
def test_a_package_that_changed_is_refused(place: Path, random, fault, how: str):
    project = package(place)
    content = (place / "data.tgz").read_bytes()
    for _ in range(times(2, 10)):
        with fault("checksum that fails"):
            (place / "data.tgz").write_bytes(spoilt(content, random, how))
            with pytest.raises(PfedrlError, match="has the checksum") as caught:
                fetch(project.root, "fashion_mnist")
            assert caught.value.exit_code == BROKEN_ARTIFACT
            assert left(place) == []
