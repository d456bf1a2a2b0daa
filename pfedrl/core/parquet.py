"""Parquet tables that carry facts about themselves and are checked when they are read.

Parquet's own checksums guard the pages of a file. A checksum of ours guards what stands beside
them: the facts, and the names and types of the columns. A table without it is refused.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write

KEY = b"pfedrl"  # where the facts stand in the metadata
SEAL = "checksum"

Facts = dict[str, Any]


def write_table(path: Path, table: pa.Table, facts: Facts, **how: Any) -> None:
    """A table and the facts about it, as one file; `how` are options of Parquet's writer."""
    facts = {**facts, "rows": table.num_rows}
    kept = json.dumps({**facts, SEAL: _digest(facts, table.schema)}, sort_keys=True)
    table = table.replace_schema_metadata({KEY: kept.encode()})
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True, **how)


def read_table(path: Path, source: Any = None) -> tuple[pa.Table, Facts]:
    """The rows and the facts; a file that is not whole is an error that names it.

    `source` holds the file's bytes where they have been read already.
    """
    try:
        table = pq.read_table(path if source is None else source, page_checksum_verification=True)
        table.validate(full=True)  # the pages' own heads have no checksum
        facts = _unsealed(table.schema)
        if table.num_rows != facts["rows"]:
            raise ValueError("rows are missing")
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise broken(path, error) from None
    return table, facts


def read_facts(path: Path) -> Facts:
    """The facts about a table, without its rows."""
    try:
        return _unsealed(pq.read_schema(path))
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise broken(path, error) from None


def _unsealed(schema: pa.Schema) -> Facts:
    facts = json.loads((schema.metadata or {})[KEY])
    if facts.pop(SEAL, None) != _digest(facts, schema):
        raise ValueError("its metadata does not match its checksum")
    return facts


def _digest(facts: Facts, schema: pa.Schema) -> str:
    described = f"{json.dumps(facts, sort_keys=True)}\n{schema.remove_metadata()}"
    return hashlib.sha256(described.encode()).hexdigest()


def broken(path: Path, error: Exception | str) -> PfedrlError:
    """The error for a file that cannot be read or trusted, with what to do about it."""
    published = "published" in path.parts
    restore = f"Restore it: git restore {path}"
    if isinstance(error, FileNotFoundError):
        build = f"Build it: snakemake --cores all {path}"
        return PfedrlError(f"{path}: no such file. {restore if published else build}")
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    remedy = restore if published else f"Make it again: rm {path} && snakemake --cores all {path}"
    return PfedrlError(f"{path}: {reason}. {remedy}", exit_code=BROKEN_ARTIFACT)
