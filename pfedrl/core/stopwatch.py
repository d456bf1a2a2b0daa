"""The time and the memory that a run took, over all the processes that worked on it."""

import multiprocessing
import resource
import time

Times = dict[str, float]


def processor_seconds() -> float:
    """Of this process and of its workers, those that have ended and those that have not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    workers = multiprocessing.active_children()
    if workers:
        import psutil  # only where there are workers: a short job does not wait for it

        for worker in workers:
            try:
                used = psutil.Process(worker.pid).cpu_times()
                total += used.user + used.system
            except psutil.NoSuchProcess:
                continue
    return total


class Stopwatch:
    """Wall and processor time since it was made, and the peak memory.

    `go_on` adds what a killed process had spent until its last checkpoint. What it spent after
    that is lost with the work it did: times are those of the work that is in the artifact.
    """

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = processor_seconds()
        self._before: Times = {}

    def go_on(self, before: Times) -> None:
        self._before = before

    def read(self) -> Times:
        before = self._before
        wall = time.perf_counter() - self._wall + before.get("wall_seconds", 0.0)
        cpu = processor_seconds() - self._cpu + before.get("cpu_seconds", 0.0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "wall_seconds": round(wall, 3),
            "cpu_seconds": round(cpu, 3),
            "peak_memory_mb": round(max(peak, before.get("peak_memory_mb", 0.0)), 1),
        }
