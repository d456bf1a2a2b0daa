"""Arrays and plain values out of a pickle, without running what the pickle asks for.

Whatever a pickle names is replaced by something inert: an array is put together from its bytes
here, and any other object is a `Held` that keeps what it was given. No class or function of pandas
or NumPy is called, and a name that is not listed is refused.
"""

import io
import pickle
from typing import Any

import numpy as np


class Held:
    """An object of a pickle: what it was made of, and its state."""

    def __init__(self, *made_of: Any):
        self.made_of = made_of
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class HeldArray(Held):
    """An array of a pickle, which is known when its state is."""

    def array(self) -> np.ndarray:
        """Plain numbers; an array of anything else is refused."""
        _, shape, dtype, fortran, content = self.state
        code, byte_order = (_text(t) for t in (dtype.made_of[0], dtype.state[1]))
        kind = np.dtype(code).newbyteorder(">" if byte_order == ">" else "<")
        if kind.kind not in "biuf" or not isinstance(content, bytes):
            raise ValueError(f"an array of {code} holds no plain numbers")
        return np.frombuffer(content, kind).reshape(shape, order="F" if fortran else "C")


def _text(text: str | bytes) -> str:
    """Python 2's texts are bytes."""
    return text.decode("ascii") if isinstance(text, bytes) else text


def _encoded(text: str, encoding: str) -> bytes:
    """How old protocols write bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes are written as latin1, not {encoding}")
    return text.encode("latin1")


STAND_INS: dict[str, Any] = {
    "copy_reg._reconstructor": Held,
    "__builtin__.object": "object",
    "__builtin__.slice": slice,
    "_codecs.encode": _encoded,
    "numpy.core.multiarray._reconstruct": HeldArray,
    "numpy.ndarray": "ndarray",
    "numpy.dtype": Held,
    "pandas.core.frame.DataFrame": "DataFrame",
    "pandas.core.internals.managers.BlockManager": "BlockManager",
    "pandas.core.indexes.base._new_Index": Held,
    "pandas.core.indexes.base.Index": "Index",
    "pandas.core.indexes.range.RangeIndex": "RangeIndex",
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in STAND_INS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not allowed")
        return STAND_INS[f"{module}.{name}"]


def plain_pickle(content: bytes) -> Any:
    """What a pickle holds, Python 2's texts as bytes; a ValueError says what cannot be trusted."""
    try:
        return _Unpickler(io.BytesIO(content), encoding="bytes").load()
    except (pickle.UnpicklingError, TypeError, AttributeError, EOFError, IndexError) as error:
        raise ValueError(f"the pickle is not read: {error}") from None


def columns(frame: Held) -> dict[str, np.ndarray]:
    """The columns of a pandas table by name, from the blocks that its state consists of."""
    blocks = frame.state["_data"].state[3]["0.14.1"]
    names = blocks["axes"][0].made_of[1]["data"].state[4]
    found: dict[str, np.ndarray] = {}
    for block in blocks["blocks"]:
        values, places = block["values"].array(), block["mgr_locs"]
        rows = range(len(names))[places] if isinstance(places, slice) else places.array().tolist()
        found |= {names[place]: row for place, row in zip(rows, values, strict=True)}
    return found
