"""What a person sees of the pipeline."""

import io
import logging
import os
import re
import signal
import time
from pathlib import Path

import pytest
from rich.console import Console

from pfedrl.pipeline.console import JobConsole, last_progress, reasons
from tests.workflow.conftest import FIGURES, Tiny, gated

RUN = "results/laptop/runs/tiny/windy/qavg/0-4.parquet"
PROFILE = "Using workflow specific profile profiles/default for setting default command line"
A_JOB = re.compile(r"\d+ of \d+: [A-Z]\w+ .+ \([\d.]+ (s|min|h)\)")
REPORT = f"The report is {FIGURES}/index.html"


def test_a_dry_run_is_a_summary_by_paper_and_rule(new_project: Tiny):
    output = new_project.make("--dry-run")
    assert len(output) < 2000
    assert "run" in output and " 10" in output and "Summarising" not in output
    assert "10 runs are not counted" in output


def test_in_a_file_there_is_a_line_a_job_and_the_last_says_where_the_report_is(project: Tiny):
    (project.root / FIGURES / "tiny/table1.md").unlink()
    first, *jobs, last = project.make().splitlines()
    assert first.startswith(PROFILE) and last == REPORT
    assert [line.split(" (")[0] for line in jobs] == [
        "1 of 3: Drawing tiny/table1", "2 of 3: Writing the report"
    ]  # fmt: skip
    assert all(map(A_JOB.fullmatch, jobs)), jobs
    assert project.make().splitlines()[-1] == REPORT, "also where there is nothing to do"


@pytest.mark.parametrize("argument", ["tinny", "--unlock"])
def test_where_nothing_was_to_be_made_no_report_is_named(project: Tiny, argument: str):
    assert REPORT not in project.snakemake(argument).stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_pipeline_that_is_ended_says_so(new_project: Tiny, number: signal.Signals):
    """As a batch system or Ctrl-C does it, to all processes at once."""
    tiny = gated(new_project)
    process = tiny.start(RUN)
    while 3 not in tiny.rounds() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, number)
    output, _ = process.communicate()
    assert process.returncode != 0
    assert "pfedrl: interrupted. Run the same command to resume." in output
    assert output.splitlines()[-1].endswith("the same command goes on from here.")
    assert "Traceback" not in output and REPORT not in output
    assert len(output.splitlines()) <= 7, output
    tiny.open_gate()
    tiny.make(RUN)
    assert tiny.rounds() == [1, 2, 3, 3, 4], "and it did go on"


class Made:
    """Our console on a made-up terminal, told of made-up jobs."""

    def __init__(self, folder: Path, runs: bool = True):
        self.folder = folder
        self.report = folder / "index.html"
        self.report.touch()
        self.console = JobConsole(self.report, lambda rule, wildcards: None, dry=False, cores=2)
        self.written = io.StringIO()
        self.console.console = Console(file=self.written, width=80, soft_wrap=True)
        if runs:
            self.tell("run_info", stats={"total": 3})

    def tell(self, event: str, message: str = "", **facts: object) -> None:
        facts = {"event": event, "msg": message, "levelno": logging.INFO, **facts}
        self.console.emit(logging.makeLogRecord(facts))

    def start(self, number: int, log: str | None = "") -> None:
        path = self.folder / f"{number}.log"
        if log is not None:
            path.write_text(log)
        title = f"Running tiny/windy/{number}, seeds 0-4"
        self.tell("job_info", jobid=number, rule_name="run", rule_msg=title, log=[str(path)],
                  wildcards={})  # fmt: skip

    def fail(self, number: int) -> None:
        log = [str(self.folder / f"{number}.log")]
        self.tell("job_error", jobid=number, rule_name="run", log=log)

    def finish(self, number: int, done: int) -> None:
        self.tell("job_finished", job_id=number)
        self.tell("progress", done=done, total=3)

    def last(self) -> str:
        self.console.close()
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


def test_a_job_that_is_tried_again_is_no_failure(tmp_path: Path):
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


def test_one_that_fails_again_is(tmp_path: Path):
    made = Made(tmp_path)
    for _ in range(2):
        made.start(1)
        made.fail(1)
    assert made.last().startswith("1 failed, 0 of 3 done. After the cause is mended, the same")


def test_a_pipeline_that_ends_early_says_so_and_names_no_report(tmp_path: Path):
    made = Made(tmp_path)
    made.start(1)
    made.finish(1, done=1)
    for _ in range(3):  # Snakemake says it as often as a job ends
        made.tell("", "Will exit after finishing currently running jobs (scheduler).")
    assert made.last() == "Stopped, 1 of 3 done. The same command goes on from here."
    assert made.written.getvalue().count("Will exit") == 1


def test_without_a_report_the_end_is_told_all_the_same(tmp_path: Path):
    made = Made(tmp_path)
    made.report.unlink()
    made.tell("progress", done=3, total=3)
    assert made.last() == "Done, 3 jobs. The report is not made yet."


@pytest.mark.parametrize(
    ("said", "report"), [("Nothing to be done (all is up to date).", True), ("Unlocked.", False)]
)
def test_without_a_run_the_report_is_named_only_where_it_is_up_to_date(
    tmp_path: Path, said: str, report: bool
):
    made = Made(tmp_path, runs=False)
    made.tell("", said)
    made.console.close()
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
