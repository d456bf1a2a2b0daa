"""What a person sees of the pipeline."""

from pathlib import Path

import pytest

from pfedrl.pipeline.console import last_progress, reasons
from tests.workflow.conftest import Tiny


def test_a_dry_run_is_a_summary_by_paper_and_rule(new_project: Tiny):
    output = new_project.make("--dry-run")
    assert len(output) < 2000
    assert "run" in output and " 10" in output and "Summarising" not in output
    assert "10 runs are not counted" in output


def test_the_last_line_says_where_the_report_is(project: Tiny):
    (project.root / "paper_figures/tiny/table1.md").unlink()
    for output in (project.make(), project.make()):
        assert output.splitlines()[-1] == "The report is paper_figures/index.html"


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
