"""The time a run took, over all the processes that worked on it."""

import multiprocessing
import time

import psutil  # noqa: F401  to import it takes processor time, which is measured here

from pfedrl.core.stopwatch import Stopwatch, processor_seconds


def test_goes_on_from_what_was_spent_before():
    first, second = Stopwatch(), Stopwatch()
    first.go_on({"wall_seconds": 1000.0, "cpu_seconds": 500.0, "peak_memory_mb": 1e9})
    read, plain = first.read(), second.read()
    assert read["wall_seconds"] >= 1000 > plain["wall_seconds"]
    assert read["cpu_seconds"] >= 500 > plain["cpu_seconds"]
    assert read["peak_memory_mb"] == 1e9 > plain["peak_memory_mb"] > 0


def work(started, end) -> None:
    while time.process_time() < 0.3:
        pass
    started.set()
    end.wait()


def test_a_worker_counts_before_and_after_it_ends():
    context = multiprocessing.get_context("fork")
    worked, end = context.Event(), context.Event()
    before, own = processor_seconds(), time.process_time()
    worker = context.Process(target=work, args=(worked, end))
    worker.start()
    worked.wait()
    during = processor_seconds() - before - (time.process_time() - own)
    end.set()
    worker.join()
    after = processor_seconds() - before - (time.process_time() - own)
    assert during > 0.25 and after > 0.25
    assert abs(after - during) < 0.2  # counted once
