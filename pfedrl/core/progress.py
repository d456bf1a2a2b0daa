"""Progress: a bar at a terminal, a line now and then in a log."""

import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pfedrl.core.durations import span


@contextmanager
def progress_bar(title: str, every: float = 10.0) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, total) that shows how far the work is and how long it will take."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    shown = time.monotonic()
    # (when, done) at most once a second, from the first call on: before that, a process that was
    # killed did the work, or this one imported and compiled, which it will not do again
    seen: list[tuple[float, int]] = []

    def line(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if not seen or now - seen[-1][0] >= 1:
            seen.append((now, done))
        if now - shown >= every:
            shown = now
            left = time_left(seen, total)
            told = "" if left is None else f", about {span(left)} to go"
            print(f"{title}: {done} of {total}{told}", file=sys.stderr)

    yield line


def time_left(seen: Sequence[tuple[float, int]], total: int) -> float | None:
    """Seconds to go at the pace of the second half of the time so far; None before there is one.

    Episodes grow longer as a learner gets better, so the pace of the beginning says little.
    """
    now, done = seen[-1]
    half = (seen[0][0] + now) / 2
    since, before = seen[max(0, bisect_right(seen, (half, sys.maxsize)) - 1)]
    if done <= before:
        since, before = seen[0]
    return (now - since) * (total - done) / (done - before) if done > before else None
