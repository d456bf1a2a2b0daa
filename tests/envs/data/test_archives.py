"""Wanted files out of archives, and archives that would write elsewhere."""

import io
import shutil
import subprocess
import tarfile
import zipfile

import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.data.archives import collect


def tar(path, *members):
    """An archive of members: a name with its content, or a ready TarInfo."""
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            if isinstance(member, str):
                member = tarfile.TarInfo(member)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.fixture
def places(tmp_path):
    given, into = tmp_path / "given", tmp_path / "into"
    given.mkdir()
    into.mkdir()
    return given, into


def held(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_wanted_files_come_from_folders_and_archives_and_nothing_else_does(places):
    given, into = places
    (given / "deep").mkdir()
    (given / "deep" / "a.bin").write_bytes(b"plain")
    tar(given / "one.tgz", ("package/b.bin", b"tar"), ("package/index.js", b"no"))
    with zipfile.ZipFile(given / "two.zip", "w") as archive:
        archive.writestr("raw/c.bin", b"zip")
        archive.writestr("raw/readme", b"no")
    tar(given / "three.tar.gz", ("d.bin.gz", b"packed"))
    collect(given, ["?.bin"], into)
    expected = {"a.bin": b"plain", "b.bin": b"tar", "c.bin": b"zip", "d.bin.gz": b"packed"}
    assert held(into) == expected


def link(name, target, kind):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    "member",
    ["../a.bin", "x/../../a.bin", link("a.bin", "../../secret", tarfile.SYMTYPE),
     link("a.bin", "../secret", tarfile.LNKTYPE)],
)  # fmt: skip
def test_a_tar_archive_that_leads_outside_is_refused(places, member):
    given, into = places
    tar(given / "bad.tar.gz", (member, b""))
    with pytest.raises(PfedrlError, match=r"bad\.tar\.gz: is rejected"):
        collect(given, ["a.bin"], into)
    assert held(into) == {}


@pytest.mark.parametrize("name", ["../a.bin", "/a.bin", "x\\..\\..\\a.bin"])
def test_a_zip_archive_that_leads_outside_is_refused(places, name):
    given, into = places
    with zipfile.ZipFile(given / "bad.zip", "w") as archive:
        archive.writestr(name, b"harm")
    with pytest.raises(PfedrlError, match=r"bad\.zip: is rejected"):
        collect(given, ["a.bin"], into)
    assert held(into) == {}


@pytest.mark.parametrize("name", ["half.tar.gz", "half.zip"])
def test_a_broken_archive_is_named(places, name):
    given, into = places
    (given / name).write_bytes(b"\x1f\x8b half")
    with pytest.raises(PfedrlError, match=f"{name}: cannot be unpacked"):
        collect(given, ["a.bin"], into)


def test_a_file_that_is_there_twice_is_not_chosen(places):
    given, into = places
    tar(given / "one.tgz", ("x/a.bin", b"1"), ("y/a.bin", b"2"))
    with pytest.raises(PfedrlError, match=r"a\.bin is there twice"):
        collect(given, ["a.bin"], into)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="there is no dpkg-deb here")
def test_a_debian_package_is_read_without_being_installed(places, tmp_path):
    given, into = places
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(
        "Package: data\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: data\n"
    )
    (root / "usr").mkdir()
    (root / "usr" / "a.bin").write_bytes(b"deb")
    command = ["dpkg-deb", "--build", "--root-owner-group", str(root), str(given / "data.deb")]
    subprocess.run(command, check=True, capture_output=True)
    collect(given, ["a.bin"], into)
    assert held(into) == {"a.bin": b"deb"}
