"""Results as text: written whole or not at all, plain values only, the same bytes every time."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import write_text

DEFAULT_SCALE = "laptop"


def listed(pairs: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Each key with its distinct values, both in order."""
    found: dict[str, set[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: sorted(values) for key, values in sorted(found.items())}


def plain(value: Any) -> Any:
    """Values that every JSON reader takes: infinity as 'inf', what is unknown as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def short(value: float, digits: int = 4) -> str:
    """A number for a sentence."""
    return f"{value:.{digits}g}"


def seeds(count: int) -> str:
    return f"{count:,} seed{'' if count == 1 else 's'}"


def rebuild_command(paper: str, artifact: str, scale: str = DEFAULT_SCALE) -> str:
    """The command that draws a table or figure again; the default scale need not be named."""
    chosen = "" if scale == DEFAULT_SCALE else f" --config scale={scale}"
    return f"snakemake --cores all {paper}_{artifact}{chosen}"


def read_result(path: Path) -> dict[str, Any] | None:
    """A result, or None where it was not made yet."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise PfedrlError(
            f"{path}: cannot be read ({error}). Rebuild it: rm {path} && snakemake --cores all",
            exit_code=BROKEN_ARTIFACT,
        ) from None
