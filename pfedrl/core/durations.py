"""How long work takes: in words, and on several cores."""

import heapq
from collections.abc import Iterable

START_UP = 5.0  # seconds that a process is given to import what it needs
NEVER_RUN = "no similar run has been measured here"


def span(seconds: float) -> str:
    """12 s, 3.4 min or 5.6 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


def makespan(seconds: Iterable[float], cores: int) -> float:
    """Seconds from the first start to the last end, where the longest jobs start first."""
    ends = [0.0] * cores
    for job in sorted(seconds, reverse=True):
        heapq.heapreplace(ends, ends[0] + job + START_UP)
    return max(ends)


def not_counted(runs: int, reason: str) -> str:
    """A sentence on runs whose duration is unknown."""
    return f"{runs} {'run is' if runs == 1 else 'runs are'} not counted: {reason}."
