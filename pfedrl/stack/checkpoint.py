"""Checkpoints: a side file from which a killed run goes on to the same artifact."""

import sys
import time
from pathlib import Path
from typing import Any

from pfedrl.core.state_file import read_state, write_state
from pfedrl.core.stopwatch import Stopwatch


class Checkpoint:
    """The state of a run beside its artifact, and the time the run has taken so far.

    `key` says what the state belongs to: the code, the settings and the seeds, each by its name.
    """

    def __init__(
        self,
        path: Path,
        key: dict[str, str],
        seconds: float = 60.0,
        stopwatch: Stopwatch | None = None,
    ):
        self.path = path
        self.key = key
        self.seconds = seconds
        self.stopwatch = Stopwatch() if stopwatch is None else stopwatch
        self._last = time.monotonic()

    def load(self) -> Any | None:
        """The kept state, or None, with the reason, where it is not this run's or is broken."""
        if not self.path.exists():
            return None
        try:
            kept = read_state(self.path)
            key, times, state = kept["key"], kept["times"], kept["state"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._refuse(f"is broken ({error})")
            return None
        if key != self.key:
            other = [name for name in self.key if key.get(name) != self.key[name]]
            self._refuse(f"was written with other {' and '.join(other)}")
            return None
        self.stopwatch.go_on(times)
        return state

    def _refuse(self, reason: str) -> None:
        print(f"pfedrl: {self.path} {reason}; the run starts over.", file=sys.stderr)

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds

    def save(self, state: Any) -> None:
        kept = {"key": self.key, "times": self.stopwatch.read(), "state": state}
        write_state(self.path, kept)
        self._last = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
