"""Snakemake's scheduler, kept from asking itself the same question again and again, and from
waiting for itself.

Its limit of jobs a second makes it look again a second after every look, and a job that ends makes
it look as well: each such look starts a chain of its own, so that after n jobs it weighs all that
wait n times a second (snakemake#3744). One look ahead is enough.

SIGTERM makes it take a lock. Where it holds that lock already, as whenever it notes that a job has
ended, it would wait for ever. A thread of its own can wait.
"""

from collections.abc import Callable
from threading import Thread, Timer
from typing import Any


def mend_scheduler(stopping: Callable[[], None]) -> None:
    """Let it have one look ahead at a time, and end when told, after a call of `stopping`; another
    Snakemake is left as it is."""
    from snakemake.scheduling.job_scheduler import JobScheduler

    if hasattr(JobScheduler, "_schedule_reevalutation"):
        JobScheduler._schedule_reevalutation = schedule_once
    if hasattr(JobScheduler, "exit_gracefully"):

        def end_when_it_can(scheduler: Any, *_: object) -> None:
            """As Snakemake's own, but the signal does not wait."""
            stopping()
            Thread(target=end, args=(scheduler,), daemon=True).start()

        JobScheduler.exit_gracefully = end_when_it_can


def end(scheduler: Any) -> None:
    with scheduler._lock:
        scheduler._user_kill = "graceful"
    scheduler._open_jobs.release()


def schedule_once(scheduler: Any, delay: float) -> None:
    if getattr(scheduler, "looks_ahead", False):
        return

    def look() -> None:
        scheduler.looks_ahead = False  # first, so that the look may ask for the next one
        scheduler._open_jobs.release()

    scheduler.looks_ahead = True
    timer = Timer(delay, look)
    timer.daemon = True  # the end does not wait for it
    timer.start()
