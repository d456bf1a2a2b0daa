"""What a person sees of a run of the pipeline, in place of Snakemake's own words.

The first line says how many jobs there are, what the runs should cost and when the last one should
end. At a terminal a bar of all jobs follows, and below it one line for each running job, with the
last progress in its log. In a file there is a line for each finished job. A finished table or
figure is named with its path, a failed job with the reason in its log. The last lines say what was
made, how long that took, what was skipped, and where the report is. A dry run prints a summary.
Snakemake's own words are in .snakemake/log, and on the console with `--printshellcmds` or
`--verbose`.
"""

import logging
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pfedrl.pipeline.command_line import INTERRUPTED
from pfedrl.pipeline.costs import (
    NEVER_RUN,
    Cost,
    core_hours,
    duration,
    makespan,
    not_counted,
    sentences,
)

LAST_LINES = 10  # of a failed job's log, where it has no line that is meant for the person
TAIL = 4096  # bytes of a log in which its last line is looked for
STREAM = "DefaultStreamHandler"  # Snakemake's name for its own console
A_DAY = 24.0  # hours
SAID_BETTER = (  # or not worth saying
    "eligible for caching",
    "CalledProcessError",
    "At least one job did not complete successfully",
)
UP_TO_DATE = "Nothing to be done"
SAID_TOO = (  # though Snakemake takes them for details
    UP_TO_DATE,
    "Will exit after finishing currently running jobs",
)
RESTART = "Trying to restart job"
MADE = {  # by rule: what it makes, and the file to open
    "draw_table": ("table", ".md"),
    "draw_figure": ("figure", ".png"),
    "draw_comparison": ("comparison", ".md"),
    "claims": ("verdict file", ".json"),
}

Pricing = Callable[[str, dict[str, str]], Cost | None]  # of a rule and its wildcards


class Job(NamedTuple):
    """A job that Snakemake has started, or would start."""

    rule: str
    wildcards: dict[str, str]
    output: list[str]
    log: Path | None
    title: str = ""
    started: float = 0.0


class Plan(NamedTuple):
    """What is to be done, and how."""

    jobs: Callable[[], Sequence[Job]]  # those that are out of date, once Snakemake knows them
    price: Pricing
    cores: int
    here: bool  # and not on a cluster, where a queue decides when jobs start


def take_over(
    workflow: Any, report: Path, price: Pricing, cores: int, skipped: str
) -> Callable[[], None]:
    """Put our console in the place of Snakemake's, unless its own words are asked for.

    Snakemake finds no plugin in a package that is installed to be edited, so the Snakefile does it.
    `cores` are this machine's, `skipped` is a line on what cannot run. Returned is what to call
    when the pipeline is told to stop.
    """
    manager, settings = workflow.logger_manager, workflow.output_settings
    if settings.printshellcmds or settings.verbose or not workflow.is_main_process:
        return lambda: None

    def jobs() -> list[Job]:
        found = workflow.dag.needrun_jobs()
        return [Job(j.rule.name, j.wildcards_dict, list(j.output), first(j.log)) for j in found]

    resources = workflow.resource_settings
    here = resources.nodes is None
    plan = Plan(jobs, price, resources.cores or cores if here else cores, here)
    ours = JobConsole(report, plan, settings.dryrun, skipped)
    for handler in list(manager.logger.handlers):
        if handler.name == STREAM:
            manager.logger.removeHandler(handler)
            manager.logger.addHandler(ours)
            signal.signal(signal.SIGINT, ours.end_now)
    return ours.stopping


class JobConsole(logging.Handler):
    """Snakemake's events as a person wants them."""

    def __init__(self, report: Path, plan: Plan, dry: bool, skipped: str = ""):
        super().__init__()
        self.report, self.plan, self.dry, self.skipped = report, plan, dry, skipped
        self.console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
        self.planned: Sequence[Job] = []
        self.jobs: dict[int, Job] = {}  # those that run
        self.made: Counter[str] = Counter()  # by rule, those that are finished
        self.done, self.total = 0, 0
        self.failed: set[int] = set()  # jobs whose last try was no good
        self.trouble = False  # besides a job's
        self.interrupted = False
        self.said: set[str] = set()
        self.started = time.monotonic()
        self.live: Live | None = None
        self.closed = False

    def stopping(self) -> None:
        """Jobs that end from now on were interrupted; they did not fail."""
        self.interrupted = True

    def end_now(self, *_: object) -> NoReturn:
        """Ctrl-C: Snakemake's scheduler ends its jobs on this; before, nothing is under way."""
        self.stopping()
        sys.exit(INTERRUPTED)

    def emit(self, record: logging.LogRecord) -> None:
        event = str(getattr(record, "event", "") or "")
        act = getattr(self, f"_{event}", None)
        if act is not None:
            act(record)
            return
        said = str(record.msg)
        if said.startswith(RESTART):
            self.console.print("    It is tried again, from its checkpoint if it has one.")
        elif said in self.said or any(words in said for words in SAID_BETTER):
            return
        elif record.levelno >= logging.WARNING or any(words in said for words in SAID_TOO):
            self.trouble |= record.levelno >= logging.ERROR
            self.said.add(said)
            self.console.print(said)

    def close(self) -> None:
        if self.closed:  # Python closes every handler again at its end
            return
        self.closed = True
        if self.live is not None:
            self.live.stop()
            self.live = None
        for line in self._end():
            self.console.print(line)
        super().close()

    def _end(self) -> Iterable[str | Group]:
        """The last lines: how it ended, what was made and skipped, and where the report is."""
        if self.dry:
            if self.planned:
                yield summary(self.planned, self.plan)
                yield from filter(None, [self.skipped])
            return
        if self.interrupted and not self.total:
            yield "Interrupted before the first job. Run the same command to resume."
            return
        if self.failed or self.done < self.total:
            how = "Interrupted" if self.interrupted else "Stopped"
            failures = f", {len(self.failed)} failed" if self.failed else ""
            yield (
                f"{how}: {self.done} of {self.total} jobs done{failures}. "
                "Run the same command to resume."
            )
            return
        # an unknown target, or --unlock, ends without either
        did = self.total > 0 or any(UP_TO_DATE in said for said in self.said)
        if self.trouble or not did:
            return
        if self.total:
            took = duration((time.monotonic() - self.started) / 3600)
            yield f"Done: {self.total} jobs in {took}.{made(self.made, self.report.parent)}"
        yield from filter(None, [self.skipped])
        if self.report.exists():
            yield f"The report is {self.report}"

    def _run_info(self, record: Any) -> None:
        self.total = record.stats["total"]
        if not self.planned:  # after a dry run it is told again
            self.planned = self.plan.jobs()
            if not self.dry:
                self.console.print(outlook(self.planned, self.plan, datetime.now()))
        if self.console.is_terminal and not self.dry and self.live is None:
            self.live = Live(
                console=self.console, get_renderable=self._screen, refresh_per_second=2,
                transient=True,
            )  # fmt: skip
            self.live.start()

    def _job_info(self, record: Any) -> None:
        title = record.rule_msg or record.rule_name
        self.jobs[record.jobid] = Job(
            record.rule_name, dict(record.wildcards), list(record.output), first(record.log),
            title, time.monotonic(),
        )  # fmt: skip

    def _job_finished(self, record: Any) -> None:
        job = self.jobs.pop(record.job_id, None)
        self.failed.discard(record.job_id)  # it was tried again
        self.done += 1  # of a group all end at once; Snakemake's own count comes after them
        if job is None or job.log is None:
            return
        self.made[job.rule] += 1
        place = where(job)
        if self.live is None or place:
            took = duration((time.monotonic() - job.started) / 3600)
            found = f": {place}" if place else ""
            self.console.print(f"{self.done} of {self.total}: {job.title} ({took}){found}")

    def _progress(self, record: Any) -> None:
        self.done, self.total = record.done, record.total

    def _job_error(self, record: Any) -> None:
        job = self.jobs.pop(record.jobid, None)
        if self.interrupted:
            return
        self.failed.add(record.jobid)
        title = record.rule_name if job is None else job.title
        self.console.print(f"Failed: {title}")
        for log in record.log:
            for line in reasons(Path(log)):
                self.console.print(f"    {line}")
            self.console.print(f"    (its log: {log})")

    def _group_error(self, record: Any) -> None:
        for job in record.job_error_info:
            self._job_error(logging.makeLogRecord(job))

    def _screen(self) -> Group:
        """The bar of all jobs, and the running ones below it, the oldest first."""
        grid = Table.grid(padding=(0, 2), expand=True)
        # a full last column would put what another writes, as an echoed ^C, on a line of its own
        grid.width = max(self.console.width - 1, 1)
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        grid.add_column(no_wrap=True, justify="right")
        now = time.monotonic()
        passed = duration((now - self.started) / 3600)
        bar = ProgressBar(total=max(self.total, 1), completed=self.done)
        grid.add_row(bar, f"{self.done} of {self.total} jobs, {passed} so far")
        waiting = 0
        for job in list(self.jobs.values()):
            if job.log is None:
                continue
            if not job.log.exists():
                waiting += 1  # on a cluster, or for another of its group
                continue
            passed = duration((now - job.started) / 3600)
            said = last_progress(job.log) or f"{passed} so far"
            grid.add_row(Text(f"  {job.title}"), Text(said))
        if waiting:
            grid.add_row(Text(f"  {waiting} more wait for their turn"), "")
        return Group(grid)


def last_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def last_progress(path: Path) -> str:
    """'57 of 120, about 80 s to go', if that is what a log says last."""
    said = last_line(path).rpartition(": ")[2]
    return said if " of " in said else ""


def reasons(log: Path) -> list[str]:
    """Of a failed job's log: the line that is meant for the person, or else the last ones."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError as error:
        return [f"no log ({error.strerror})"]
    meant = [line for line in lines if line.startswith("pfedrl: ")]
    return meant[-1:] or lines[-LAST_LINES:]


def first(logs: Sequence[str]) -> Path | None:
    return Path(logs[0]) if logs else None


def where(job: Job) -> str:
    """The file of a table, a figure or verdicts that a person would open; '' of other jobs."""
    _, suffix = MADE.get(job.rule, ("", ""))
    return next((path for path in job.output if suffix and path.endswith(suffix)), "")


def made(counts: Counter[str], folder: Path) -> str:
    """How many tables, figures and files of verdicts, and where they are; '' if there are none."""
    found = [
        f"{counts[rule]} {word}{'s' if counts[rule] > 1 else ''}"
        for rule, (word, _) in MADE.items()
        if counts[rule]
    ]
    return f" Made {', '.join(found)}, below {folder.parent}/." if found else ""


def outlook(jobs: Sequence[Job], plan: Plan, now: datetime) -> str:
    """The first line of a run: jobs, core-hours, and when the last should end on these cores."""
    prices = [plan.price(job.rule, job.wildcards) for job in jobs if job.rule == "run"]
    known = [cost for cost in prices if cost is not None]
    said = f"{len(jobs)} jobs"
    if known:
        said += f", about {duration(core_hours(known))} of core time"
    if plan.here and (known or not prices):
        others = [0.0 for job in jobs if job.log is not None and job.rule != "run"]  # they start up
        last = makespan([*(cost.seconds for cost in known), *others], plan.cores)
        end = now + timedelta(seconds=last)
        day = "%H:%M" if end.date() == now.date() else "%H:%M on %A, %d %B"
        cores = "1 core" if plan.cores == 1 else f"{plan.cores} cores"
        said += f"; on {cores} done at about {end:{day}}"
    unknown = len(prices) - len(known)
    return f"{said}. {not_counted(unknown, NEVER_RUN)}" if unknown else f"{said}."


def summary(jobs: Iterable[Job], plan: Plan) -> Group:
    """What would run, by paper and rule, and what that should cost."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    costs: dict[str, list[Cost]] = defaultdict(list)
    unknown: Counter[str] = Counter()
    for job in jobs:
        if job.log is None:
            continue  # a target that names others
        paper = job.wildcards.get("paper", "shared")
        counts[paper][job.rule] += 1
        if job.rule == "run":
            cost = plan.price(job.rule, job.wildcards)
            unknown[paper] += cost is None
            costs[paper] += [] if cost is None else [cost]
    rules = sorted({rule for counter in counts.values() for rule in counter})
    papers = sorted(counts, key=lambda paper: (paper == "shared", paper))
    table = Table("jobs", box=None, pad_edge=False)
    for paper in papers:
        table.add_column(paper, justify="right")
    for rule in rules:
        table.add_row(rule, *(str(counts[paper][rule] or "") for paper in papers))
    hours = [core_hours(costs[paper]) for paper in papers]
    table.add_row("core time", *(duration(each) if each else "" for each in hours))
    known = [cost for found in costs.values() for cost in found]
    never_run = +Counter({NEVER_RUN: unknown.total()})
    lines = [Text(text) for text in sentences(known, never_run, plan.cores, A_DAY)]
    return Group(table, *lines, Text("snakemake --dry-run --printshellcmds lists every job."))
