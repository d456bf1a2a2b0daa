import pytest

from pfedrl.analysis.drawing import draw

ARTIFACTS = ("table1", "figure2", "generalisation", "theory")


@pytest.mark.parametrize("name", ARTIFACTS)
def test_drawing_again_gives_the_same_bytes(project, made, tmp_path, name):
    first = draw(project, "qavg", name, "laptop", made, tmp_path / "first")
    again = draw(project, "qavg", name, "laptop", made, tmp_path / "again")
    assert [path.name for path in first] == [path.name for path in again]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
