"""Progress: a bar at a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def span(seconds: float) -> str:
    """12 s, 3.4 min or 5.6 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


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
    started = shown = time.monotonic()
    before: int | None = None  # done by a process that was killed, which took no time of this one

    def line(done: int, total: int) -> None:
        nonlocal shown, before
        now = time.monotonic()
        before = done - 1 if before is None else before
        if now - shown >= every:
            shown = now
            left = (now - started) * (total - done) / max(done - before, 1)
            print(f"{title}: {done} of {total}, about {span(left)} to go", file=sys.stderr)

    yield line
