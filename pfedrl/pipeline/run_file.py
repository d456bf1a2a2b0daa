"""One run on disk: the rows it recorded, and the facts about it.

A run file holds some seeds of one key. Its facts are the settings, the digest of the data, the
seeds, the fingerprint of the code, commit, processor, versions, time and memory.
"""

import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import pyarrow as pa

from pfedrl.core.parquet import Facts, write_table

COLUMNS = ("seed", "agent", "axis", "at", "metric", "value")
PACKAGES = (
    "numpy", "scipy", "numba", "pandas", "pyarrow", "torch", "gymnasium", "mujoco", "libsumo",
    "matplotlib",
)  # fmt: skip
# published rows stand curve by curve, and single precision is more than any table prints
SMALL = {
    "compression_level": 19, "write_statistics": False, "use_dictionary": ["axis", "metric"],
    "column_encoding": {
        "seed": "DELTA_BINARY_PACKED", "agent": "DELTA_BINARY_PACKED",
        "at": "DELTA_BINARY_PACKED", "value": "BYTE_STREAM_SPLIT",
    },
}  # fmt: skip


def write_run(path: Path, columns: Mapping[str, np.ndarray], facts: Facts) -> None:
    """What a run recorded, and the facts about it."""
    arrays = [
        _numbers(columns["seed"], pa.int64()),
        _numbers(columns["agent"], pa.int16()),
        _texts(columns["axis"].tolist()),
        _numbers(columns["at"], pa.int64()),
        _texts(columns["metric"].tolist()),
        _numbers(columns["value"], pa.float64()),
    ]
    write_table(path, pa.Table.from_arrays(arrays, names=list(COLUMNS)), facts)


def write_small(path: Path, table: pa.Table, facts: Facts) -> None:
    """A run in the form in which it is committed."""
    values = table["value"].cast(pa.float32())
    table = table.set_column(table.column_names.index("value"), "value", values)
    write_table(path, _curve_by_curve(table), facts, **SMALL)


def _curve_by_curve(table: pa.Table) -> pa.Table:
    """The rows with the points of a curve side by side: a constant curve then takes no space."""
    keys = ["metric", "axis", "agent", "seed", "at"]
    plain = table.select(keys).unify_dictionaries().combine_chunks()
    columns = [plain[key].combine_chunks() for key in keys]
    codes = [c.indices if pa.types.is_dictionary(c.type) else c for c in columns]
    return table.take(np.lexsort([code.to_numpy() for code in reversed(codes)]))


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


def here() -> Facts:
    """The commit, the processor and the versions of this process."""
    imported = {name: metadata.version(name) for name in PACKAGES if name in sys.modules}
    versions = {"python": platform.python_version(), **imported}
    return {"commit": commit(), "processor": processor(), "versions": versions}


@cache
def commit() -> str:
    """The commit of the code that runs, marked where the package's files differ from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent.parent, capture_output=True, text=True,
            check=True, timeout=20,
        ).stdout.strip()  # fmt: skip

    try:
        dirty = git("status", "--porcelain", "--untracked-files=no", "--", ".")
        return git("rev-parse", "--short=12", "HEAD") + ("+changes" if dirty else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


@cache
def processor() -> str:
    """The make of the processor, as the system names it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
