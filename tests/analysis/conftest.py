from pathlib import Path

import pytest

from pfedrl.pipeline.project import Project
from tests.analysis import fake


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The summaries of made-up runs with 200 seeds."""
    return fake.summaries(tmp_path_factory.mktemp("made"), 200)


def stubbed(patch: pytest.MonkeyPatch, folder: Path) -> Project:
    """A small project whose algorithms are stubs."""
    for module in ("theory", "style", "labels"):
        patch.setattr(f"pfedrl.analysis.{module}.load_runnable", fake.stub)
    patch.setattr("pfedrl.analysis.claims.cuts", lambda *_: [])  # stubs have no settings to cut
    patch.setattr("pfedrl.analysis.drawing.cuts_of", lambda *_: "")
    return fake.project(folder / "project")


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    return stubbed(monkeypatch, tmp_path)
