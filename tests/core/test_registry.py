"""Components by name, found by reading their files."""

from pathlib import Path

import pytest

from pfedrl.core import registry
from pfedrl.core.errors import PfedrlError

LABELLED = 'class {0}:\n    label: str = "{0}"\n'


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty room of algorithms in a package of its own."""
    monkeypatch.setattr(registry, "PACKAGE", tmp_path / "pfedrl")
    registry.components.cache_clear()
    yield tmp_path / "pfedrl" / "algorithms"
    registry.components.cache_clear()


def write(path: Path, *classes: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(LABELLED.format(name) for name in classes))


def test_two_labelled_classes_in_one_file_are_refused(room: Path):
    write(room / "dqn" / "twins.py", "First", "Second")
    with pytest.raises(PfedrlError, match=r"twins.py: First and Second both have a label"):
        registry.components("algorithms")


def test_the_folder_tells_files_of_one_name_apart(room: Path):
    for path in ("td/fedq_k.py", "dqn/fedq_k.py", "dqn/lfrl.py"):
        write(room / path, "Made")
    assert set(registry.components("algorithms")) == {"td/fedq_k", "dqn/fedq_k", "lfrl"}
