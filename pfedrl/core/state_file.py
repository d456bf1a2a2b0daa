"""A nested state in one file: JSON for its shape, raw bytes for its arrays, a checksum for both.

Reading runs no code, whatever the file holds, and a single changed bit is noticed. What comes back
is what went in: None, bool, int, float, str, list, tuple, dict, NumPy arrays and numbers, torch
tensors. Anything else is refused when it is written, not when it is missed.
"""

import hashlib
import json
import math
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pfedrl.core.files import atomic_write

MAGIC = b"pfedrl state 1\n"  # then the checksum of all that follows
DIGEST = "sha256"
START = len(MAGIC) + hashlib.new(DIGEST).digest_size
LENGTH = struct.Struct("<Q")  # of the JSON
PLAIN = (bool, int, float, str, type(None))
KINDS = "biufcSUmM"  # of arrays: plain numbers and texts, no objects


def write_state(path: Path, state: Any) -> None:
    arrays: list[np.ndarray] = []
    shape = {"state": _packed(state, arrays, "state"), "arrays": [_described(a) for a in arrays]}
    text = json.dumps(shape).encode()
    with atomic_write(path) as temporary, temporary.open("w+b") as file:
        file.write(bytes(START))
        file.write(LENGTH.pack(len(text)) + text)
        for array in arrays:
            file.write(array.tobytes(order="A"))  # as it lies in memory
        file.seek(START)
        digest = hashlib.file_digest(file, DIGEST).digest()
        file.seek(0)
        file.write(MAGIC + digest)


def read_state(path: Path) -> Any:
    """What was written; a ValueError says why a file cannot be trusted."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError("this version cannot read its format")
        digest = file.read(START - len(MAGIC))
        if hashlib.file_digest(file, DIGEST).digest() != digest:
            raise ValueError("its checksum does not match")
        file.seek(START)
        try:
            (length,) = LENGTH.unpack(file.read(LENGTH.size))
            shape = json.loads(file.read(length))
            arrays = [_array(file, *described) for described in shape["arrays"]]
            return _unpacked(shape["state"], arrays)
        except (struct.error, KeyError, IndexError, TypeError) as error:
            raise ValueError(f"its structure is invalid: {error}") from None


def _described(array: np.ndarray) -> list[Any]:
    order = "F" if array.flags.fnc else "C"
    return [array.dtype.str, list(array.shape), order]


def _array(file: BinaryIO, kind: str, shape: list[int], order: Any) -> np.ndarray:
    dtype = np.dtype(kind)
    if dtype.kind not in KINDS:
        raise ValueError(f"unsupported array type {dtype}")
    flat = np.empty(math.prod(shape), dtype)
    if file.readinto(flat.view(np.uint8)) != flat.nbytes:  # type: ignore[attr-defined]
        raise ValueError("an array is truncated")
    return flat.reshape(shape, order=order)


def _packed(value: Any, arrays: list[np.ndarray], where: str) -> Any:
    """The value in JSON's terms, its arrays put aside and named by their number."""
    if type(value) in PLAIN:
        return value
    if type(value) in (list, tuple):
        items = [_packed(item, arrays, f"{where}[{i}]") for i, item in enumerate(value)]
        return {type(value).__name__: items}
    if type(value) is dict:
        pairs = [[_packed(k, arrays, where), _packed(v, arrays, f"{where}[{k!r}]")]
                 for k, v in value.items()]  # fmt: skip
        return {"dict": pairs}
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Tensor:
        return {"tensor": _aside(value.numpy(), arrays, where)}
    if isinstance(value, np.generic):
        return {"number": _aside(np.asarray(value), arrays, where)}
    if type(value) is np.ndarray:
        return {"array": _aside(value, arrays, where)}
    raise TypeError(f"{where}: a state file cannot hold a {type(value).__name__}")


def _aside(array: np.ndarray, arrays: list[np.ndarray], where: str) -> int:
    if array.dtype.kind not in KINDS:
        raise TypeError(f"{where}: a state file cannot hold an array of {array.dtype}")
    arrays.append(array)
    return len(arrays) - 1


def _unpacked(value: Any, arrays: list[np.ndarray]) -> Any:
    if type(value) in PLAIN:
        return value
    ((kind, held),) = value.items()
    match kind:
        case "list":
            return [_unpacked(item, arrays) for item in held]
        case "tuple":
            return tuple(_unpacked(item, arrays) for item in held)
        case "dict":
            return {_unpacked(k, arrays): _unpacked(v, arrays) for k, v in held}
        case "array":
            return arrays[held]
        case "number":
            return arrays[held][()]
        case "tensor":
            # not imported here: whose learner keeps tensors has done so, and no other needs it
            return sys.modules["torch"].from_numpy(arrays[held])
    raise ValueError(f"unknown kind of entry '{kind}'")
