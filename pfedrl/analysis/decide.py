"""Buying evidence where an hour decides most, until the time is spent."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pfedrl.analysis.plan import Job, Ledger, Place, Purchase, choose, read_ledger
from pfedrl.analysis.plan_tables import name
from pfedrl.analysis.redraw import judge_published
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.artifact import read_facts
from pfedrl.pipeline.cells import Cell, find_cell, run_path
from pfedrl.pipeline.costs import START_UP, duration
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import NAME, add_run, published_runs
from pfedrl.pipeline.twins import take_rows

Say = Callable[[str], None]
Clock = Callable[[], float]
POLL = 0.05  # seconds


@dataclass
class Bill:
    """What was bought, and the verdicts before and after."""

    before: Ledger
    after: Ledger
    bought: list[Purchase] = field(default_factory=list)

    def lines(self) -> list[str]:
        """One a claim whose verdict is another now, or for which seeds were bought in vain."""
        was, now = self.before.verdicts, self.after.verdicts
        hoped = {(claim.paper, claim.id) for purchase in self.bought for claim in purchase.claims}
        changed = [
            f"{'/'.join(claim)}: {was[claim]} -> {now[claim]}"
            for claim in now
            if now[claim] != was[claim]
        ]
        in_vain = [
            f"{'/'.join(claim)}: still {now[claim]}"
            for claim in now
            if claim in hoped and now[claim] == was[claim]
        ]
        return (changed or ["No verdict changed."]) + in_vain


def decide(project: Project, hours: float, cores: int, say: Say = print) -> Bill:
    """Add seeds to the published runs for so many hours; say which verdicts changed.

    Runs are those of `pfedrl run`, one process a core. They are published when all cells of a
    purchase are there, so that an experiment never has more seeds of one cell than of another.
    What was run and is not yet published is kept, and used when the same seeds are bought again.
    A cell that another experiment has too takes over the seeds that are published there.
    """

    def judge(bought: Collection[Place] | None) -> Ledger:
        now = Project.here(project.root)  # an experiment may be at the paper's budget since
        judge_published(now, bought)
        return read_ledger(now, NAME)

    def buy(jobs: Sequence[Job], end: float) -> bool:
        for paper, experiment in sorted({job.place for job in jobs if _other_code(project, job)}):
            say(f"  The published seeds of {paper}/{experiment} were made by another version of "
                f"the code. `pfedrl verify --published {paper} {experiment}` checks whether the "
                "numbers differ.")  # fmt: skip
        missing = [job for job in jobs if not job.taken and not _is_done(project, job)]
        if not run_jobs(project, missing, cores, end, say):
            return False
        with tempfile.TemporaryDirectory() as folder:
            for job in jobs:
                cell, path = _cell_and_path(project, job)
                if job.taken:
                    path = Path(folder, path.name)
                    take_rows(cell, job.seeds, job.taken, path)
                add_run(project.root, job.scale, cell, path)
        return True

    bill = spend(hours * 3600, cores, judge, buy, say)
    for line in bill.lines():
        say(line)
    if bill.bought:
        say("Run `make figures` to redraw the pages with the new seeds.")
    return bill


def spend(
    seconds: float,
    cores: int,
    judge: Callable[[Collection[Place] | None], Ledger],
    buy: Callable[[Sequence[Job], float], bool],
    say: Say,
    clock: Clock = time.monotonic,
) -> Bill:
    """Buy what decides most an hour, judge what it concerns, and choose again.

    The time that the first judging took is kept free for the last. Where jobs take longer than
    they did when they were measured, so will the next ones.
    """
    started = clock()
    first = judge(None)
    bill, pace = Bill(first, first), 1.0
    end = started + seconds - (clock() - started)
    while (chosen := choose(bill.after.purchases(), (end - clock()) / pace, cores)) is not None:
        expected = chosen.seconds(cores)
        say(_announced(chosen, expected * pace))
        began = clock()
        if not buy([job._replace(seconds=job.seconds * pace) for job in chosen.jobs], end):
            say("Time limit reached. Finished runs are kept and reused by the next call.")
            return bill
        if expected > 0:  # not where all rows were taken over
            pace = max(1.0, (clock() - began) / expected)
        bill.bought.append(chosen)
        bill.after = judge(chosen.upto)
    least = min((p.seconds(cores) * pace / 3600 for p in bill.after.purchases()), default=None)
    if least is None:
        say("More seeds would decide no further claim: see `pfedrl plan`.")
    else:
        say(f"The remaining time is too short: the shortest extension takes {duration(least)} on "
            f"{'1 core' if cores == 1 else f'{cores} cores'}.")  # fmt: skip
    return bill


def _announced(purchase: Purchase, seconds: float) -> str:
    what = ", ".join(f"{'/'.join(place)} to {n:,} seeds" for place, n in purchase.upto.items())
    if purchase.whole:
        what += " at the paper's own budget"
    claims = ", ".join(name(claim) for claim in purchase.claims)
    return f"Extending {what} (about {duration(seconds / 3600)}) to decide {claims}"


def run_jobs(
    project: Project,
    jobs: Sequence[Job],
    cores: int,
    end: float,
    say: Say,
    clock: Clock = time.monotonic,
) -> bool:
    """Run jobs, the longest first, so many at once; whether all of them ended in time.

    One that would not end in time is not begun, nor is any after it; one that runs at the end is
    killed, and goes on from its checkpoint another time.
    """
    waiting = sorted(jobs, key=lambda job: -job.seconds)
    running: dict[subprocess.Popen[bytes], tuple[Job, Path]] = {}
    done, in_time = 0, True
    with tempfile.TemporaryDirectory() as folder:
        try:
            while waiting or running:
                while waiting and len(running) < cores:
                    if clock() + waiting[0].seconds + START_UP > end:
                        waiting, in_time = [], False
                        break
                    job, log = waiting.pop(0), Path(folder, str(len(waiting)))
                    running[_start(project, job, log)] = (job, log)
                for process in [p for p in running if p.poll() is not None]:
                    job, log = running.pop(process)
                    _check(process.returncode, job, log)
                    done += 1
                    say(f"  {done} of {len(jobs)}: {_name(job)}")
                if running and clock() > end:
                    return False
                time.sleep(POLL)
        finally:
            for process in running:
                if process.poll() is None:  # another may have failed when this one had ended
                    os.killpg(process.pid, signal.SIGTERM)  # with its workers
                    process.wait()
    return in_time


def _start(project: Project, job: Job, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "pfedrl", "run", *job.place, job.cell, "--scale", job.scale,
             "--seeds", _block(job)],
            cwd=project.root, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip


def _check(exit_code: int, job: Job, log: Path) -> None:
    if exit_code != 0:
        lines = log.read_text(errors="replace").strip().splitlines()
        said = lines[-1] if lines else f"exit code {exit_code}"
        raise PfedrlError(f"{_name(job)} failed: {said}")


def _block(job: Job) -> str:
    return f"{job.seeds.start}-{job.seeds.stop}"


def _name(job: Job) -> str:
    return f"{'/'.join(job.place)}/{job.cell}, seeds {_block(job)}"


def _cell_and_path(project: Project, job: Job) -> tuple[Cell, Path]:
    cell = find_cell(project, *job.place, job.cell, job.scale)
    return cell, project.root / run_path(job.scale, cell, _block(job))


def _is_done(project: Project, job: Job) -> bool:
    """Whether an earlier purchase that was not finished has made the run, with the same code."""
    cell, path = _cell_and_path(project, job)
    if not path.exists():
        return False
    facts = read_facts(path)
    return facts["settings"] == cell.settings() and facts["code"] == run_code(cell)


def _other_code(project: Project, job: Job) -> bool:
    cell, _ = _cell_and_path(project, job)
    code = run_code(cell)
    return any(
        read_facts(path)["code"] != code for path in published_runs(project.root, job.scale, cell)
    )
