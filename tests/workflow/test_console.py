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

from pfedrl.pipeline.console import Job, JobConsole, Plan, last_progress, outlook, reasons
from pfedrl.pipeline.costs import START_UP, Cost
from tests.workflow.conftest import FIGURES, Tiny, gated

PROFILE = "Using workflow specific profile profiles/default for setting default command line"
A_JOB = re.compile(r"(\d+ of \d+: [A-Z]\w+ .+) \([\d.]+ (?:s|min|h)\)(?:: (\S+))?")
REPORT = f"The report is {FIGURES}/index.html"
SKIPPED = "Skipped: 2 experiments."
STARTED, INTERRUPTED = "Reading the experiments", "Interrupted before the first job"


def test_a_dry_run_is_one_summary_by_paper_and_rule(new_project: Tiny):
    output = new_project.make("--dry-run")
    assert len(output) < 2000
    assert "run" in output and " 10" in output and "Summarising" not in output
    assert output.count("10 runs are not counted") == 1


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
        "Drawing tiny/table1": table, "Drawing tiny/figure1": figure, "Writing the report": None
    }  # fmt: skip
    assert re.fullmatch(r"Done: 4 jobs in \d+ s\. Made 1 table, 1 figure, below \S+/\.", end)
    assert project.make().splitlines()[-1] == REPORT, "also where there is nothing to do"


def test_a_cheap_experiment_is_drawn_before_the_others_have_run(finished: Tiny):
    """Each of these runs is priced the same, and WindyCliffs have two of ten."""
    figure = finished.root / FIGURES / "tiny/figure1.png"
    others = (finished.root / "results/runs").rglob("*-random_mdp-*/*.parquet")
    assert figure.stat().st_mtime < max(path.stat().st_mtime for path in others)


@pytest.mark.parametrize("argument", ["tinny", "--unlock"])
def test_where_nothing_was_to_be_made_no_report_is_named(project: Tiny, argument: str):
    assert REPORT not in project.snakemake(argument).stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_pipeline_that_is_ended_says_so(new_project: Tiny, number: signal.Signals):
    """As a batch system or Ctrl-C does it, to all processes at once."""
    tiny = gated(new_project)
    process = tiny.start(tiny.run())
    while 3 not in tiny.rounds() and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, number)
    output, _ = process.communicate()
    assert process.returncode != 0
    assert re.match(r"Interrupted: \d of \d jobs done\. ", output.splitlines()[-1]), output
    assert not re.search("Traceback|Failed|failed", output) and REPORT not in output
    assert len(output.splitlines()) <= 7, output
    tiny.open_gate()
    tiny.make(tiny.run())
    assert tiny.rounds() == [1, 2, 3, 3, 4], "and it did go on"


def test_ctrl_c_while_snakemake_reads_the_project_is_one_line(new_project: Tiny):
    process = new_project.start("tiny")
    assert process.stdout is not None
    while not process.stdout.readline().startswith(STARTED):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    (line,) = process.communicate()[0].splitlines()
    assert line.startswith(INTERRUPTED) and process.returncode == 128 + signal.SIGINT


class Made:
    """Our console on a made-up terminal, told of made-up jobs."""

    def __init__(self, folder: Path, runs: bool = True):
        self.folder = folder
        self.report = folder / "index.html"
        self.report.touch()
        plan = Plan(list, lambda rule, wildcards: None, cores=2, here=True)
        self.console = JobConsole(self.report, plan, dry=False, skipped=SKIPPED)
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
                  wildcards={}, output=[])  # fmt: skip

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
    _, *said = made.written.getvalue().splitlines()
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
    assert made.last().startswith("Stopped: 0 of 3 jobs done, 1 failed.")


def test_a_pipeline_that_ends_early_says_so_and_names_no_report(tmp_path: Path):
    made = Made(tmp_path)
    made.start(1)
    made.finish(1, done=1)
    for _ in range(3):  # Snakemake says it as often as a job ends
        made.tell("", "Will exit after finishing currently running jobs (scheduler).")
    assert made.last().startswith("Stopped: 1 of 3 jobs done.")
    assert SKIPPED not in made.written.getvalue()
    assert made.written.getvalue().count("Will exit") == 1


def test_without_a_report_the_end_is_told_all_the_same_and_once(tmp_path: Path):
    made = Made(tmp_path)
    made.report.unlink()
    made.tell("progress", done=3, total=3)
    assert made.last() == SKIPPED
    made.console.close()  # as Python does at its end
    *_, done, last = made.written.getvalue().splitlines()
    assert done.startswith("Done: 3 jobs in ") and last == SKIPPED


RUNS = [Job("run", {"cell": cell}, [], Path(cell)) for cell in ("a", "b", "c")]
OTHERS = [Job("summarise", {}, [], Path("d")), Job("all", {}, [], None)]
NOON = datetime(2026, 11, 18, 12)


def plan_at(hours: float, unknown: str = "", here: bool = True) -> Plan:
    """Runs of so many hours each, on two cores."""
    known = Cost(3600 * hours - START_UP, 0, 0)
    return Plan(list, lambda _, wildcards: None if wildcards["cell"] in unknown else known, 2, here)


def test_the_first_line_says_jobs_core_time_and_the_end_on_these_cores():
    said = outlook([*RUNS, *OTHERS], plan_at(1.5), NOON)
    assert said == "5 jobs, about 4.5 h of core time; on 2 cores done at about 15:00."
    assert outlook(OTHERS, plan_at(1.5), NOON) == "2 jobs; on 2 cores done at about 12:00."
    late = outlook(RUNS, plan_at(10), NOON)
    assert late.endswith("done at about 08:00 on Thursday, 19 November.")


def test_the_first_line_promises_no_end_where_a_price_or_a_queue_is_unknown():
    said = outlook([*RUNS, *OTHERS], plan_at(1.5, unknown="c"), NOON)
    assert said.startswith("5 jobs, about 3.0 h of core time; ") and "1 run is not counted" in said
    said = outlook([*RUNS, *OTHERS], plan_at(1.5, unknown="abc"), NOON)
    assert "done at" not in said and "3 runs are not counted" in said
    said = outlook([*RUNS, *OTHERS], plan_at(1.5, here=False), NOON)
    assert said == "5 jobs, about 4.5 h of core time."


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
