"""A run's artifact: one Parquet file in long form, its provenance in the file's metadata."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.recorder import Recorder
from pfedrl.core.seal import sealed, unsealed

KEY = b"pfedrl"  # where the provenance stands in the metadata
NAMES = ("experiment", "algorithm", "family")
COLUMNS = ("experiment", "algorithm", "family", "seed", "agent", "axis", "at", "metric", "value")


def write_run(path: Path, recorder: Recorder, names: dict[str, str], facts: dict[str, Any]) -> None:
    """The recorded columns and the facts about the run, as one file."""
    columns = recorder.columns()
    rows = len(columns["value"])
    arrays = [_texts([names[n]] * rows) for n in NAMES]
    arrays += [
        _numbers(columns["seed"], pa.int32()),
        _numbers(columns["agent"], pa.int16()),
        _texts(columns["axis"].tolist()),
        _numbers(columns["at"], pa.int64()),
        _texts(columns["metric"].tolist()),
        _numbers(columns["value"], pa.float64()),
    ]
    table = pa.Table.from_arrays(arrays, names=list(COLUMNS))
    facts = {**facts, "rows": rows}
    table = table.replace_schema_metadata({KEY: json.dumps(sealed(facts, table.schema)).encode()})
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


# `pa.array` imports pandas, a third of a short job; buffers do not


def _numbers(values: np.ndarray, kind: pa.DataType) -> pa.Array:
    buffer = pa.py_buffer(np.ascontiguousarray(values, dtype=str(kind)))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def _texts(values: list[str]) -> pa.Array:
    """Texts of which few are distinct, as a dictionary and codes."""
    code = {text: number for number, text in enumerate(dict.fromkeys(values))}
    codes = _numbers(np.array([code[text] for text in values]), pa.int32())
    encoded = [text.encode() for text in code]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    distinct = pa.StringArray.from_buffers(
        len(code), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )
    return pa.DictionaryArray.from_arrays(codes, distinct)


def read_facts(path: Path) -> dict[str, Any]:
    """The provenance of a run, without its rows."""
    try:
        stored = pq.read_schema(path).metadata or {}
        return unsealed(json.loads(stored[KEY]), pq.read_schema(path))
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise broken(path, error) from None


def read_run(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The rows and the provenance; a file that is not whole is named, never averaged in."""
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        facts = unsealed(json.loads((table.schema.metadata or {})[KEY]), table.schema, table)
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise broken(path, error) from None
    if table.num_rows != facts["rows"] or tuple(table.column_names) != COLUMNS:
        raise broken(path, ValueError("rows or columns are missing"))
    return table, facts


def broken(path: Path, error: Exception) -> PfedrlError:
    if not path.exists():
        return PfedrlError(f"{path}: no such artifact. Build it: snakemake --cores all {path}")
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return PfedrlError(
        f"{path}: the artifact is broken ({reason}). "
        f"Rebuild it: rm {path} && snakemake --cores all {path} "
        f"(or, if it is a published one: git restore {path})",
        exit_code=BROKEN_ARTIFACT,
    )
