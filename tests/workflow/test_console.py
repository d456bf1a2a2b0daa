"""What a person sees of the pipeline."""

import io
import logging
import os
import re
import signal
import time
from datetime import datetime
from pathlib import Path

import pytest
from rich.console import Console

from pfedrl.core.durations import START_UP
from snakemake_logger_plugin_pfedrl import mend
from snakemake_logger_plugin_pfedrl.console import (
    Handed,
    Job,
    JobConsole,
    hand_over,
    last_progress,
    outlook,
    reasons,
    summary,
)
from tests.workflow.conftest import FIGURES, Tiny, gated

PROFILE = "Using workflow specific profile profiles/default for setting default command line"
A_JOB = re.compile(r"(\d+ of \d+: [A-Z]\w+ .+) \([\d.]+ (?:s|min|h)\)(?:: (\S+))?")
REPORT = f"The report is {FIGURES}/index.html"
SKIPPED = "Skipped: 2 experiments."
ROUNDS = sorted([1, 2, 3, 3, 4] * 2)  # of two runs that wait after the third round
STARTED, INTERRUPTED = "Reading the experiments", "Interrupted before the first job"


@pytest.fixture(autouse=True)
def as_before():
    yield
    hand_over(Handed())
    mend.stopped.clear()


def table_of(output: str) -> dict[str, list[str]]:
    """By the first word of a line, the others."""
    return {words[0]: words[1:] for words in map(str.split, output.splitlines()) if words}


def test_a_dry_run_is_one_summary_by_paper_and_rule(new_project: Tiny):
    output = new_project.make("--dry-run")
    table = table_of(output)
    assert table["jobs"] == ["tiny", "shared"]
    assert table["run"] == ["10"] and table["build"] == ["4"]
    assert "Summarising" not in output


def test_in_a_file_there_is_a_line_a_job_between_what_is_to_do_and_what_was_made(project: Tiny):
    for name in ("table1.md", "figure1.png"):
        (project.root / FIGURES / "tiny" / name).unlink()
    first, second, outlook, *jobs, end, last = project.make().splitlines()
    assert first.startswith(PROFILE) and second.startswith(STARTED) and last == REPORT
    assert re.match(r"4 jobs; on 2 cores done at about \d\d:\d\d", outlook)
    found = [A_JOB.fullmatch(line) for line in jobs]
    assert None not in found and len(found) == 3, jobs
    places = {match[1].split(": ")[1]: match[2] for match in found}
    table, figure = f"{FIGURES}/tiny/table1.md", f"{FIGURES}/tiny/figure1.png"
    assert places == {
        "Drawing tiny/table1": table, "Drawing tiny/figure1": figure, "Writing the pages": None
    }  # fmt: skip
    assert re.fullmatch(r"Done: 4 jobs in \d+ s\. Made 1 table, 1 figure, below \S+/\.", end)
    assert project.make().splitlines()[-1] == REPORT, "also where there is nothing to do"


def test_a_cheap_experiment_is_drawn_before_the_others_have_run(finished: Tiny):
    """Each of these runs is priced the same, and WindyCliffs have two of ten."""
    figure = finished.root / FIGURES / "tiny/figure1.png"
    others = (finished.root / "results/runs").glob("*-random_mdp-*/*.parquet")
    assert figure.stat().st_mtime < max(path.stat().st_mtime for path in others)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_pipeline_that_is_ended_says_so(new_project: Tiny, number: signal.Signals):
    """As a batch system or Ctrl-C does it, to all processes at once."""
    tiny = gated(new_project)
    process = tiny.start("tiny_figure1")
    while tiny.rounds().count(3) < 2 and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, number)
    output, _ = process.communicate()
    assert process.returncode != 0
    assert re.match(r"Interrupted: \d of \d jobs done\. ", output.splitlines()[-1]), output
    assert not re.search("Traceback|Failed|failed", output) and REPORT not in output
    assert len(output.splitlines()) <= 7, output
    tiny.open_gate()
    tiny.make("tiny_figure1")
    assert sorted(tiny.rounds()) == ROUNDS, "and it did go on"


def test_ctrl_c_while_snakemake_reads_the_project_is_one_line(new_project: Tiny):
    process = new_project.start()
    assert process.stdout is not None
    while not process.stdout.readline().startswith(STARTED):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate()
    (line,) = output.splitlines()
    assert line.startswith(INTERRUPTED) and process.returncode == 128 + signal.SIGINT


class Made:
    """Our console on a made-up terminal, told of made-up jobs."""

    def __init__(self, folder: Path, runs: bool = True, quiet: str = ""):
        self.folder = folder
        self.report = folder / "index.html"
        self.report.touch()
        hand_over(Handed(page=self.report, cores=2, skipped=lambda: SKIPPED))
        self.written = io.StringIO()
        terminal = Console(file=self.written, width=80, soft_wrap=True)
        self.console = JobConsole(dry=False, quiet=frozenset(quiet.split()), console=terminal)
        if runs:
            self.tell("run_info", stats={"total": 3})

    def tell(self, event: str, message: str = "", **facts: object) -> None:
        facts = {"event": event, "msg": message, "levelno": logging.INFO, **facts}
        self.console.show(logging.makeLogRecord(facts))

    def start(self, number: int, log: str | None = "") -> None:
        path = self.folder / f"{number}.log"
        if log is not None:
            path.write_text(log)
        title = f"Running tiny/windy/{number}, seeds 0-4"
        self.tell("job_info", jobid=number, rule_name="run", rule_msg=title, log=[str(path)],
                  wildcards={}, output=[], resources={})  # fmt: skip

    def fail(self, number: int) -> None:
        log = [str(self.folder / f"{number}.log")]
        self.tell("job_error", jobid=number, rule_name="run", log=log)

    def finish(self, number: int, done: int) -> None:
        self.tell("job_finished", job_id=number)
        self.tell("progress", done=done, total=3)

    def last(self) -> str:
        self.console.end()
        return self.written.getvalue().splitlines()[-1]


def test_the_screen_is_a_bar_and_a_line_a_running_job(tmp_path: Path):
    made = Made(tmp_path)
    made.start(1, "windy/qavg: 57 of 120, about 80 s to go\n")
    made.start(2)
    made.start(3)
    made.finish(3, done=1)
    made.written.truncate(0)
    made.console.console.print(made.console._screen())
    bar, first, second = made.written.getvalue().strip("\x00").splitlines()
    assert re.search(r"1 of 3 jobs, [\d.]+ (s|min) so far$", bar.strip())
    assert re.fullmatch(r"  Running tiny/windy/1, seeds 0-4 +57 of 120, about 80 s to go *", first)
    assert re.fullmatch(r"  Running tiny/windy/2, seeds 0-4 +[\d.]+ (s|min) so far *", second)


def test_jobs_that_a_cluster_has_not_started_are_counted_on_one_line(tmp_path: Path):
    made = Made(tmp_path)
    for number, log in enumerate(("windy/qavg: 57 of 120\n", None, None)):
        made.start(number, log)
    made.written.truncate(0)
    made.console.console.print(made.console._screen())
    _, first, second = made.written.getvalue().strip("\x00").splitlines()
    assert first.rstrip().endswith("57 of 120")
    assert second.strip() == "2 more wait for their turn"


def test_a_job_that_is_tried_again_is_no_failure_unless_it_fails_again(tmp_path: Path):
    made = Made(tmp_path)
    made.start(1, "pfedrl: stopped by SIGTERM.\n")
    made.fail(1)
    made.tell("", "Trying to restart job 1.")
    said = made.written.getvalue().splitlines()
    assert said[0] == "Failed: Running tiny/windy/1, seeds 0-4"
    assert said[1] == "    pfedrl: stopped by SIGTERM."
    assert said[-1] == "    It is tried again, from its checkpoint if it has one."
    made.start(1)
    made.finish(1, done=3)
    assert made.last() == f"The report is {made.report}"
    again = Made(tmp_path)
    for _ in range(2):
        again.start(1)
        again.fail(1)
    assert again.last().startswith("Stopped: 0 of 3 jobs done, 1 failed.")


def test_a_pipeline_that_ends_early_says_so_and_names_no_report(tmp_path: Path):
    made = Made(tmp_path)
    made.start(1)
    made.finish(1, done=1)
    for _ in range(3):  # Snakemake says it as often as a job ends
        made.tell("", "Will exit after finishing currently running jobs (scheduler).")
    assert made.last().startswith("Stopped: 1 of 3 jobs done.")
    assert SKIPPED not in made.written.getvalue()
    assert made.written.getvalue().count("Will exit") == 1


def test_without_a_report_the_end_is_told_all_the_same(tmp_path: Path):
    made = Made(tmp_path)
    made.report.unlink()
    made.tell("progress", done=3, total=3)
    assert made.last() == SKIPPED
    *_, done, last = made.written.getvalue().splitlines()
    assert done.startswith("Done: 3 jobs in ") and last == SKIPPED


def runs(*hours: float) -> list[Job]:
    """Priced by the hour, with the time to start; 0 is unknown."""
    return [Job("run", Path("a"), cpu_s=int(3600 * h - START_UP) if h else 0) for h in hours]


OTHERS = [Job("summarise", Path("d")), Job("all", None)]
NOON = datetime(2026, 11, 18, 12)


def test_the_first_line_says_jobs_core_time_and_the_end_on_these_cores():
    said = outlook([*runs(1.5, 1.5, 1.5), *OTHERS], 2, NOON)
    assert said == "5 jobs, about 4.5 h of core time; on 2 cores done at about 15:00."
    assert outlook(OTHERS, 2, NOON) == "2 jobs; on 2 cores done at about 12:00."
    late = outlook(runs(10, 10, 10), 2, NOON)
    assert late.endswith("done at about 08:00 on Thursday, 19 November.")


def test_the_first_line_promises_no_end_where_a_price_or_a_queue_is_unknown():
    said = outlook([*runs(1.5, 1.5, 0), *OTHERS], 2, NOON)
    assert said.startswith("5 jobs, about 3.0 h of core time; ") and "1 run is not counted" in said
    said = outlook([*runs(0, 0, 0), *OTHERS], 2, NOON)
    assert "done at" not in said and "3 runs are not counted" in said
    said = outlook([*runs(1.5, 1.5, 1.5), *OTHERS], None, NOON)
    assert said == "5 jobs, about 4.5 h of core time."


def test_a_summary_prices_each_paper_by_its_own_runs():
    jobs = [job._replace(paper=paper) for paper in ("b", "a") for job in runs(1, 2)]
    shown = io.StringIO()
    Console(file=shown, width=80).print(summary([*jobs, *runs(0), *OTHERS], 2))
    table = table_of(shown.getvalue())
    assert table["jobs"] == ["a", "b", "shared"] and table["run"] == ["2", "2", "1"]
    assert table["core"] == ["time", "3.0", "h", "3.0", "h"] and table["summarise"] == ["1"]
    assert "4 runs take about 6.0 h of core time, 3.0 h on 2 cores" in shown.getvalue()
    assert "1 run is not counted" in shown.getvalue()


@pytest.mark.parametrize("quiet", ["RULES PROGRESS", "ALL"])
def test_with_quiet_only_failures_are_told(tmp_path: Path, quiet: str):
    made = Made(tmp_path, quiet=quiet)
    made.start(1)  # and Snakemake does not tell that it ends
    made.console.end()
    assert made.written.getvalue() == ""
    made.start(1, "pfedrl: the disk is full.\n")
    made.fail(1)
    made.console.end()
    assert ("the disk is full" in made.written.getvalue()) == (quiet != "ALL")


@pytest.mark.parametrize(
    ("said", "report"), [("Nothing to be done (all is up to date).", True), ("Unlocked.", False)]
)
def test_without_a_run_the_report_is_named_only_where_it_is_up_to_date(
    tmp_path: Path, said: str, report: bool
):
    made = Made(tmp_path, runs=False)
    made.tell("", said)
    made.console.end()
    assert (f"The report is {made.report}" in made.written.getvalue()) == report


def test_an_error_of_snakemake_is_shown_and_no_report(tmp_path: Path):
    made = Made(tmp_path)
    made.tell("progress", done=3, total=3)
    made.tell("", "Directory cannot be locked", levelno=logging.ERROR)
    assert made.last() == "Directory cannot be locked"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("windy/qavg: 3 of 9, about 40 s to go\n", "3 of 9, about 40 s to go"),
        ("a: 3 of 9, about 4 s to go\nb: 4 of 9, about 3 s to go\n", "4 of 9, about 3 s to go"),
        ("a warning\n", ""),
        ("", ""),
    ],
)
def test_the_progress_of_a_job_is_what_its_log_says_last(tmp_path: Path, text: str, shown: str):
    (tmp_path / "log").write_text(text)
    assert last_progress(tmp_path / "log") == shown
    assert last_progress(tmp_path / "none") == ""


def test_the_reason_of_a_failure_is_the_line_meant_for_the_person(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("a warning\npfedrl: the reason\n")
    assert reasons(log) == ["pfedrl: the reason"]
    log.write_text("".join(f"line {number}\n" for number in range(20)) + "ValueError: why\n")
    assert reasons(log)[-1] == "ValueError: why" and len(reasons(log)) == 10
    assert reasons(tmp_path / "none") == ["no log (No such file or directory)"]
