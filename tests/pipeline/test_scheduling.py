"""However many jobs end, the scheduler has one look ahead at a time, and then the next."""

from threading import Semaphore
from types import SimpleNamespace

from pfedrl.pipeline.scheduling import look_ahead_once, schedule_once


def looks(scheduler: SimpleNamespace) -> int:
    """How often it was woken within a second."""
    found = 0
    while scheduler._open_jobs.acquire(timeout=1):
        found += 1
    return found


def test_many_askings_are_one_look():
    scheduler = SimpleNamespace(_open_jobs=Semaphore(0))
    for _ in range(50):
        schedule_once(scheduler, 0.05)
    assert looks(scheduler) == 1
    schedule_once(scheduler, 0.05)
    assert looks(scheduler) == 1


def test_snakemake_schedules_its_looks_by_the_method_that_is_replaced(monkeypatch):
    from snakemake.scheduling.job_scheduler import JobScheduler

    monkeypatch.setattr(
        JobScheduler, "_schedule_reevalutation", JobScheduler._schedule_reevalutation
    )
    look_ahead_once()
    assert JobScheduler._schedule_reevalutation is schedule_once
