"""What is mended of Snakemake works; and Snakemake still needs it.

Where a test of the second kind fails, Snakemake has mended it: remove ours.
"""

from threading import Lock, Semaphore, Thread
from types import SimpleNamespace

import pytest
from snakemake import cli
from snakemake.scheduling import job_scheduler
from snakemake.scheduling.job_scheduler import JobScheduler

from snakemake_logger_plugin_pfedrl import mend

ENDS = ("_schedule_reevalutation", "exit_gracefully")


@pytest.fixture(autouse=True)
def not_stopped():
    yield
    mend.stopped.clear()


class ByHand:
    """A timer that runs when it is told to."""

    made: list["ByHand"]

    def __init__(self, delay: float, act):
        self.act = act
        self.made.append(self)

    def start(self) -> None:
        pass


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[ByHand]:
    monkeypatch.setattr(ByHand, "made", [], raising=False)
    monkeypatch.setattr(mend, "Timer", ByHand)
    monkeypatch.setattr(job_scheduler.threading, "Timer", ByHand)
    return ByHand.made


def test_many_requests_are_one_evaluation(timers: list[ByHand]):
    scheduler = SimpleNamespace(_open_jobs=Semaphore(0))
    for _ in range(2):
        for _ in range(50):
            mend.evaluate_once(scheduler, 1.0)
        (timer,) = timers
        timers.clear()
        timer.act()
        assert scheduler._open_jobs.acquire(blocking=False)
        assert not scheduler._open_jobs.acquire(blocking=False)


def test_snakemake_still_plans_an_evaluation_for_every_request(timers: list[ByHand]):
    for _ in range(50):
        JobScheduler._schedule_reevalutation(SimpleNamespace(), 1)
    assert len(timers) == 50


def locked() -> SimpleNamespace:
    return SimpleNamespace(_lock=Lock(), _open_jobs=Semaphore(0), _user_kill=None)


def test_a_signal_while_the_scheduler_holds_its_lock_ends_it_afterwards():
    scheduler = locked()
    with scheduler._lock:
        mend.end_when_possible(scheduler)  # and comes back
        assert scheduler._user_kill is None and mend.stopped.is_set()
    assert scheduler._open_jobs.acquire(timeout=10) and scheduler._user_kill == "graceful"


def test_snakemake_still_waits_for_its_own_lock_in_the_signal_handler():
    scheduler = locked()
    handler = Thread(target=JobScheduler.exit_gracefully, args=(scheduler,), daemon=True)
    with scheduler._lock:
        handler.start()
        handler.join(timeout=0.2)
        assert handler.is_alive()
    handler.join()


def test_the_methods_that_are_replaced_are_those_that_snakemake_calls(monkeypatch):
    for name in ENDS:
        monkeypatch.setattr(JobScheduler, name, getattr(JobScheduler, name))
    mend.mend_scheduler()
    assert JobScheduler._schedule_reevalutation is mend.evaluate_once
    assert JobScheduler.exit_gracefully is mend.end_when_possible


def test_snakemake_still_ends_in_a_traceback_on_ctrl_c_while_it_reads(monkeypatch):
    def read(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "parse_args", lambda argv: (None, None))
    monkeypatch.setattr(cli, "args_to_api", read)
    with pytest.raises(KeyboardInterrupt):
        cli.main([])
