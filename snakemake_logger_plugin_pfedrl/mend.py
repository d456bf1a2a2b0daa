"""Everything of Snakemake that is replaced or worked around, each with its reason.

Each has a test in tests/pipeline/test_mend.py that fails once Snakemake no longer needs it.
"""

import signal
import sys
from threading import Event, Thread, Timer
from typing import Any, NoReturn

INTERRUPTED = 128 + signal.SIGINT  # the shell's exit code

stopped = Event()  # by Ctrl-C or SIGTERM: jobs that end from then on did not fail


def end_on_interrupt() -> None:
    """Ctrl-C while Snakemake reads the project would end in a traceback.

    Where jobs run, Snakemake's scheduler ends them on SystemExit as on KeyboardInterrupt.
    """
    signal.signal(signal.SIGINT, _interrupted)


def _interrupted(*_: object) -> NoReturn:
    stopped.set()
    sys.exit(INTERRUPTED)


def mend_scheduler() -> None:
    """Replace two methods of the scheduler. A Snakemake without them is left as it is."""
    from snakemake.scheduling.job_scheduler import JobScheduler

    if hasattr(JobScheduler, "_schedule_reevalutation"):
        JobScheduler._schedule_reevalutation = evaluate_once
    if hasattr(JobScheduler, "exit_gracefully"):
        JobScheduler.exit_gracefully = end_when_possible


def evaluate_once(scheduler: Any, delay: float) -> None:
    """Plan one evaluation at a time.

    Snakemake's limit of jobs per second plans an evaluation one second after every evaluation, and
    a job that ends causes another one. Each starts a chain of its own: after n jobs, all waiting
    jobs are weighed n times a second (snakemake#3744).
    """
    if getattr(scheduler, "evaluation_is_planned", False):
        return

    def evaluate() -> None:
        scheduler.evaluation_is_planned = False  # first: the evaluation may plan the next one
        scheduler._open_jobs.release()

    scheduler.evaluation_is_planned = True
    timer = Timer(delay, evaluate)
    timer.daemon = True  # the end does not wait for it
    timer.start()


def end_when_possible(scheduler: Any, *_: object) -> None:
    """End on SIGTERM, from a thread that can wait for the scheduler's lock.

    Snakemake takes the lock in the signal handler. If the interrupted code holds it already, as
    whenever a job has just ended, it waits for itself for ever.
    """
    stopped.set()

    def end() -> None:
        with scheduler._lock:
            scheduler._user_kill = "graceful"
        scheduler._open_jobs.release()

    Thread(target=end, daemon=True).start()
