"""Records that are committed: JSON files, a line a key."""

import json
from pathlib import Path
from typing import Any

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write

Records = dict[str, dict[str, Any]]


def read_records(root: Path, file: Path) -> Records:
    """What a file of the project holds; nothing where there is none."""
    path = root / file
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise PfedrlError(
            f"{file}: cannot be read ({error}): git restore {file}", exit_code=BROKEN_ARTIFACT
        ) from None


def write_records(root: Path, file: Path, kept: Records) -> None:
    lines = [f"{json.dumps(key)}: {json.dumps(kept[key])}" for key in sorted(kept)]
    with atomic_write(root / file) as temporary:
        temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
