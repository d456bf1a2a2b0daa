"""The research object of a release lists every committed run with its checksum."""

import json
from pathlib import Path

import pytest

from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Store
from tests.tiny import ROOT

rocrate = pytest.importorskip("rocrate", reason="rocrate is not installed: pfedrl[release]")


def test_a_crate_can_be_read_again_and_lists_every_committed_run(tmp_path: Path):
    from rocrate.rocrate import ROCrate

    from pfedrl.pipeline.crate import write_crate

    path = tmp_path / "ro-crate-metadata.json"
    count = write_crate(Project.here(ROOT), path)
    listed = {
        entity["@id"]: entity["sha256"]
        for entity in json.loads(path.read_text())["@graph"]
        if "sha256" in entity
    }
    expected = {
        f"results/published/{folder}/{block}.parquet": file["sha256"]
        for folder, entry in Store(ROOT).manifest.items()
        for block, file in entry["files"].items()
    }
    assert listed == expected and count == len(expected)
    assert ROCrate(tmp_path).mainEntity.id == "Snakefile"
