"""The committed JSON schemas are those of the models."""

import json
from pathlib import Path

from pfedrl.analysis.schema import schemas, write_schemas

COMMITTED = Path(__file__).parents[2] / "workflow" / "schemas"


def test_schemas_have_not_drifted():
    committed = {
        str(path.relative_to(COMMITTED)): json.loads(path.read_text())
        for path in COMMITTED.rglob("*.json")
    }
    # run `pfedrl schema` after a change of the settings
    assert committed == json.loads(json.dumps(schemas()))


def test_schemas_are_written(tmp_path: Path):
    paths = write_schemas(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in paths} == set(schemas())
    assert json.loads((tmp_path / "scale.schema.json").read_text())["title"] == "Scale"
