"""A checksum that travels with the facts about a table: a changed bit is noticed when it is read.

Parquet's own checksums guard the pages of a file; this one guards what stands beside them, the
facts and the columns' names and types.
"""

import hashlib
import json
from typing import Any

KEY = "checksum"


def sealed(facts: dict[str, Any], schema: Any) -> dict[str, Any]:
    return {**facts, KEY: _digest(facts, schema)}


def unsealed(facts: dict[str, Any], schema: Any, table: Any = None) -> dict[str, Any]:
    """The facts as they were before; files from before there were seals have none."""
    if table is not None:
        table.validate(full=True)  # the pages' own heads have no checksum
    own = {key: value for key, value in facts.items() if key != KEY}
    if facts.get(KEY, digest := _digest(own, schema)) != digest:
        raise ValueError("its metadata does not match its checksum")
    return own


def _digest(facts: dict[str, Any], schema: Any) -> str:
    described = f"{json.dumps(facts, sort_keys=True)}\n{schema.remove_metadata()}"
    return hashlib.sha256(described.encode()).hexdigest()
