"""What a person sees of the pipeline, in place of Snakemake's own messages.

The first line says how many jobs there are, what the runs should cost and when the last one should
end. At a terminal a bar of all jobs follows, and below it one line for each running job, with the
last progress in its log. In a file there is a line for each finished job. A finished table or
figure is named with its path, a failed job with the reason in its log. The last lines say what was
made, how long that took, what was skipped, and where the report is. A dry run prints a summary.

A job's cost is its resource `cpu_s`, in seconds of processor time; 0 means unknown. The Snakefile
calls `hand_over` with what no event of Snakemake tells, and `announce` before the first job.
"""

import logging
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pfedrl.core.durations import NEVER_RUN, START_UP, makespan, not_counted, span
from snakemake_logger_plugin_pfedrl import mend

LAST_LINES = 10  # of a failed job's log, where it has no line that is meant for the person
TAIL = 4096  # bytes of a log in which its last line is looked for
NOT_SHOWN = (  # because this console shows it better, or because it is of no use
    "eligible for caching",
    "CalledProcessError",
    "At least one job did not complete successfully",
)
UP_TO_DATE = "Nothing to be done"
SHOWN = (UP_TO_DATE, "Will exit after finishing currently running jobs")  # though not warnings
RESUME = "Run the same command to resume."
RESTART = "Trying to restart job"
NO_RULE = re.compile(r"No rule to produce (.+?) \(if you use input functions")
NO_SETTING = re.compile(r"Invalid config definition.*value: (.+?)\)")
SHARED = "shared"
PAPER = re.compile(r"\w+ (\w+)/")  # in a job's message: Running qavg/...
MADE = {  # by rule: what it makes, and the file to open
    "draw_table": ("table", ".md"),
    "draw_figure": ("figure", ".png"),
    "draw_comparison": ("comparison", ".md"),
    "claims": ("verdict file", ".json"),
}


@dataclass
class Handed:
    """What the Snakefile hands over."""

    page: Path = Path("index.html")  # the report
    cores: int | None = None  # None on a cluster, where a queue decides when jobs start
    skipped: Callable[[], str] = str  # a line on what cannot run
    why_not: Callable[[str], str] = "unknown target '{}'.".format  # of a target without a rule


HANDED = Handed()


def hand_over(handed: Handed) -> None:
    """Tell the console what no event of Snakemake tells."""
    global HANDED
    HANDED = handed


def announce(jobs: Iterable[Any]) -> None:
    """Log the first line, from Snakemake's jobs that are out of date."""
    planned = [Job(job.rule.name, first(job.log), cpu_s=priced(job.resources)) for job in jobs]
    said = outlook(planned, HANDED.cores, datetime.now())
    logging.getLogger("snakemake.logging").info(said, extra={"event": "outlook"})


class Job(NamedTuple):
    """A job that Snakemake has started, or would start."""

    rule: str
    log: Path | None
    title: str = ""
    paper: str = SHARED
    output: Sequence[str] = ()
    cpu_s: int | None = None  # None if its rule has no price
    started: float = 0.0


@dataclass
class JobConsole:
    """Snakemake's events as a person wants them."""

    dry: bool
    quiet: frozenset[str] = frozenset()  # Snakemake's names: RULES, PROGRESS, ALL, ...
    console: Console = field(
        default_factory=lambda: Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    )
    planned: list[Job] = field(default_factory=list)  # of a dry run
    jobs: dict[int, Job] = field(default_factory=dict)  # those that run
    made: Counter[str] = field(default_factory=Counter)  # by rule, those that are finished
    done: int = 0
    total: int = 0
    failed: set[int] = field(default_factory=set)  # jobs whose last try failed
    trouble: bool = False  # besides a job's
    said: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)
    live: Live | None = None

    @property
    def brief(self) -> bool:
        """Whether only failures are to be shown; Snakemake does not tell then which jobs ended."""
        return bool(self.quiet & {"RULES", "PROGRESS", "ALL"})

    def begin(self) -> None:
        """Say that the command has started; to read the experiments takes seconds."""
        if not self.brief:  # not through rich, which repeats a line that Ctrl-C interrupts
            print("Reading the experiments and looking for what is out of date.", file=sys.stderr)

    def show(self, record: logging.LogRecord) -> None:
        """What an event or a message of Snakemake means to a person."""
        if "ALL" in self.quiet and not self.dry:
            return
        act = getattr(self, f"on_{getattr(record, 'event', None)}", self.on_message)
        act(record)

    def on_message(self, record: logging.LogRecord) -> None:
        said = str(record.msg)
        if said.startswith(RESTART):
            self.console.print("    It is tried again, from its checkpoint if it has one.")
        elif said in self.said or any(words in said for words in NOT_SHOWN):
            return
        elif record.levelno >= logging.WARNING or any(words in said for words in SHOWN):
            self.trouble |= record.levelno >= logging.ERROR
            self.said.add(said)
            self.console.print(said)

    def on_error(self, record: Any) -> None:
        """A target that is unknown or misplaced, in one line; other errors as they are."""
        if found := NO_RULE.search(record.msg):
            record.msg = f"pfedrl: {HANDED.why_not(found[1])}"
        elif found := NO_SETTING.search(record.msg):
            record.msg = (
                f"pfedrl: {found[1]} stands after --config, where Snakemake expects name=value. "
                "Put targets before --config: snakemake TARGET --config scale=NAME"
            )
        self.on_message(record)

    def on_outlook(self, record: Any) -> None:
        if not self.brief:
            self.console.print(record.msg)

    def on_run_info(self, record: Any) -> None:
        self.total = record.stats["total"]
        if self.dry and self.quiet == {"RULES", "PROGRESS"}:  # Snakemake ends before single jobs
            self.console.print(record.msg)
        if self.console.is_terminal and not self.dry and not self.brief:
            self.live = Live(
                console=self.console, get_renderable=self._screen, refresh_per_second=2,
                transient=True,
            )  # fmt: skip
            self.live.start()

    def on_job_info(self, record: Any) -> None:
        title = record.rule_msg or record.rule_name
        job = Job(
            record.rule_name, first(record.log), title, paper_of(title, record.wildcards),
            record.output, priced(record.resources), time.monotonic(),
        )  # fmt: skip
        if self.dry:
            self.planned.append(job)
        else:
            self.jobs[record.jobid] = job

    def on_job_finished(self, record: Any) -> None:
        job = self.jobs.pop(record.job_id, None)
        self.failed.discard(record.job_id)  # it was tried again
        self.done += 1  # of a group all end at once; Snakemake's own count comes after them
        if job is None or job.log is None:
            return
        self.made[job.rule] += 1
        place = where(job)
        if not self.brief and (self.live is None or place):
            took = span(time.monotonic() - job.started)
            found = f": {place}" if place else ""
            self.console.print(f"{self.done} of {self.total}: {job.title} ({took}){found}")

    def on_progress(self, record: Any) -> None:
        self.done, self.total = record.done, record.total

    def on_job_error(self, record: Any) -> None:
        job = self.jobs.pop(record.jobid, None)
        if mend.stopped.is_set():
            return
        self.failed.add(record.jobid)
        title = record.rule_name if job is None else job.title
        self.console.print(f"Failed: {title}")
        for log in record.log:
            for line in reasons(Path(log)):
                self.console.print(f"    {line}")
            self.console.print(f"    (its log: {log})")

    def on_group_error(self, record: Any) -> None:
        """An event for each job of the group follows."""

    def end(self) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None
        for line in self._last_lines():
            self.console.print(line)

    def _last_lines(self) -> Iterable[str | Group]:
        """How it ended, what was made and skipped, and where the report is."""
        stopped = mend.stopped.is_set()
        if stopped and not self.total:
            yield f"Interrupted before the first job. {RESUME}"
            return
        if self.dry:
            if self.planned:
                yield summary(self.planned, HANDED.cores)
                yield from filter(None, [HANDED.skipped()])
            return
        if self.failed or (stopped if self.brief else self.done < self.total):
            how = ["Interrupted" if stopped else "Stopped"]
            how += [] if self.brief else [f"{self.done} of {self.total} jobs done"]
            how += [f"{len(self.failed)} failed"] if self.failed else []
            yield f"{': '.join(how[:2])}{''.join(f', {more}' for more in how[2:])}. {RESUME}"
            return
        # an unknown target, or --unlock, ends without either
        did = self.total > 0 or any(UP_TO_DATE in said for said in self.said)
        if self.trouble or self.brief or not did:
            return
        if self.total:
            took = span(time.monotonic() - self.started)
            yield f"Done: {self.total} jobs in {took}.{made(self.made, HANDED.page.parent)}"
        yield from filter(None, [HANDED.skipped()])
        if HANDED.page.exists():
            yield f"The report is {HANDED.page}"

    def _screen(self) -> Group:
        """The bar of all jobs, and the running ones below it, the oldest first."""
        grid = Table.grid(padding=(0, 2), expand=True)
        # a full last column would put what another writes, as an echoed ^C, on a line of its own
        grid.width = max(self.console.width - 1, 1)
        grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        grid.add_column(no_wrap=True, justify="right")
        now = time.monotonic()
        bar = ProgressBar(total=max(self.total, 1), completed=self.done)
        grid.add_row(bar, f"{self.done} of {self.total} jobs, {span(now - self.started)} so far")
        waiting = 0
        for job in list(self.jobs.values()):
            if job.log is None:
                continue
            if not job.log.exists():
                waiting += 1  # on a cluster, or for another of its group
                continue
            said = last_progress(job.log) or f"{span(now - job.started)} so far"
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


def priced(resources: Any) -> int | None:
    found = resources.get("cpu_s")
    return found if isinstance(found, int) else None


def paper_of(title: str, wildcards: Mapping[str, str]) -> str:
    """The paper that a job is for, by its wildcards or its message."""
    named = PAPER.match(title)
    return wildcards.get("paper") or (named[1] if named else SHARED)


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
    return f" Made {', '.join(found)}, below {folder}/." if found else ""


def core_time(jobs: Iterable[Job]) -> float:
    """Seconds of processor time that the priced jobs should take."""
    return sum(job.cpu_s + START_UP for job in jobs if job.cpu_s)


def outlook(jobs: Sequence[Job], cores: int | None, now: datetime) -> str:
    """The first line of a run: jobs, core time, and when the last should end on these cores."""
    known = [job for job in jobs if job.cpu_s]
    unknown = sum(job.cpu_s == 0 for job in jobs)
    said = f"{len(jobs)} jobs"
    if known:
        said += f", about {span(core_time(known))} of core time"
    if cores and (known or not unknown):
        # a job without a price takes little more than its start; one without a log takes nothing
        seconds = [job.cpu_s or 0 for job in jobs if job.log is not None and job.cpu_s != 0]
        end = now + timedelta(seconds=makespan(seconds, cores))
        day = "%H:%M" if end.date() == now.date() else "%H:%M on %A, %d %B"
        said += f"; on {counted(cores)} done at about {end:{day}}"
    return f"{said}. {not_counted(unknown, NEVER_RUN)}" if unknown else f"{said}."


def counted(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def summary(jobs: Iterable[Job], cores: int | None) -> Group:
    """What would run, by paper and rule, and what that should cost."""
    by_paper: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.log is not None:  # else a target that names others
            by_paper[job.paper].append(job)
    papers = sorted(by_paper, key=lambda paper: (paper == SHARED, paper))
    every = [job for paper in papers for job in by_paper[paper]]
    table = Table("jobs", box=None, pad_edge=False)
    for paper in papers:
        table.add_column(paper, justify="right")
    for rule in sorted({job.rule for job in every}):
        counts = [sum(job.rule == rule for job in by_paper[paper]) for paper in papers]
        table.add_row(rule, *(str(count or "") for count in counts))
    costs = [core_time(by_paper[paper]) for paper in papers]
    lines = []
    known = [job.cpu_s for job in every if job.cpu_s]
    if known:
        table.add_row("core time", *(span(cost) if cost else "" for cost in costs))
        took = f", {span(makespan(known, cores))} on {counted(cores)}" if cores else ""
        lines.append(
            f"{len(known)} runs take about {span(sum(costs))} of core time{took}; the longest "
            f"{span(max(known))}."
        )
    if unknown := sum(job.cpu_s == 0 for job in every):
        lines.append(not_counted(unknown, NEVER_RUN))
    lines.append("snakemake --dry-run --printshellcmds lists every job.")
    return Group(table, *(Text(line) for line in lines))
