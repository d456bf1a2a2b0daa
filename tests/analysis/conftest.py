from pathlib import Path

import pytest

from pfedrl.pipeline.project import Project
from tests.analysis import fake


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The summaries of made-up runs with 200 seeds."""
    return fake.summaries(tmp_path_factory.mktemp("made"), 200)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    """A small project whose algorithms are stubs."""
    for module in ("instances", "style"):
        monkeypatch.setattr(f"pfedrl.analysis.{module}.load_runnable", fake.stub)
    return fake.project(tmp_path / "project")
