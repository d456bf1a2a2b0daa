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
    shown = time.monotonic()
    # what had been done when this was first asked, and when: before that, a process that was killed
    # did it, or this one imported and compiled, which it will not do again
    before: tuple[int, float] | None = None

    def line(done: int, total: int) -> None:
        nonlocal shown, before
        now = time.monotonic()
        first, since = before = before or (done, now)
        if now - shown >= every:
            shown = now
            left = (now - since) * (total - done) / max(done - first, 1)
            told = f", about {span(left)} to go" if done > first else ""
            print(f"{title}: {done} of {total}{told}", file=sys.stderr)

    yield line
