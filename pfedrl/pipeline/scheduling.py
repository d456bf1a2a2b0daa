"""Snakemake's scheduler, kept from asking itself the same question again and again.

Its limit of jobs a second makes it look again a second after every look, and a job that ends makes
it look as well: each such look starts a chain of its own, so that after n jobs it weighs all that
wait n times a second (snakemake#3744). One look ahead is enough.
"""

from threading import Timer
from typing import Any


def look_ahead_once() -> None:
    """Let a scheduler have one look ahead at a time; another Snakemake is left as it is."""
    from snakemake.scheduling.job_scheduler import JobScheduler

    if hasattr(JobScheduler, "_schedule_reevalutation"):
        JobScheduler._schedule_reevalutation = schedule_once


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
