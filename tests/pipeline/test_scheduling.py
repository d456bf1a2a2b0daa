"""The scheduler has one look ahead at a time, however many jobs end; and it ends when told to,
whatever it is doing."""

from threading import Lock, Semaphore
from types import SimpleNamespace

import pytest

from pfedrl.pipeline.scheduling import mend_scheduler, schedule_once


def test_many_askings_are_one_look(monkeypatch: pytest.MonkeyPatch):
    looks = []

    class ByHand:
        def __init__(self, delay, look):
            self.start = lambda: looks.append(look)

    monkeypatch.setattr("pfedrl.pipeline.scheduling.Timer", ByHand)
    scheduler = SimpleNamespace(_open_jobs=Semaphore(0))
    for _ in range(2):
        for _ in range(50):
            schedule_once(scheduler, 1.0)
        (look,) = looks
        looks.clear()
        look()
        assert scheduler._open_jobs.acquire(blocking=False)
        assert not scheduler._open_jobs.acquire(blocking=False)


def test_a_signal_while_it_holds_its_own_lock_ends_it_afterwards(monkeypatch):
    """By the methods that Snakemake itself calls."""
    from snakemake.scheduling.job_scheduler import JobScheduler

    for name in ("_schedule_reevalutation", "exit_gracefully"):
        monkeypatch.setattr(JobScheduler, name, getattr(JobScheduler, name))
    told: list[bool] = []
    mend_scheduler(lambda: told.append(True))
    assert JobScheduler._schedule_reevalutation is schedule_once
    scheduler = SimpleNamespace(_lock=Lock(), _open_jobs=Semaphore(0), _user_kill=None)
    with scheduler._lock:
        JobScheduler.exit_gracefully(scheduler)  # and comes back
        assert told and scheduler._user_kill is None
    assert scheduler._open_jobs.acquire(timeout=10) and scheduler._user_kill == "graceful"
