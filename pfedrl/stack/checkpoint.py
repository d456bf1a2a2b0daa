"""Checkpoints: a side file from which a killed run goes on to the same artifact."""

import pickle
import time
from pathlib import Path
from typing import Any

from pfedrl.core.files import atomic_write


class Checkpoint:
    """The state of a run beside its artifact. `key` names the settings it belongs to."""

    def __init__(self, path: Path, key: str, seconds: float = 60.0):
        self.path = path
        self.key = key
        self.seconds = seconds
        self._last = time.monotonic()

    def load(self) -> Any | None:
        """The kept state, or None where there is none, it is broken, or of other settings."""
        try:
            key, state = pickle.loads(self.path.read_bytes())
        except (OSError, pickle.UnpicklingError, EOFError, ValueError, TypeError):
            return None
        return state if key == self.key else None

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds

    def save(self, state: Any) -> None:
        with atomic_write(self.path) as temporary:
            temporary.write_bytes(pickle.dumps((self.key, state)))
        self._last = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
