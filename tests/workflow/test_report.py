"""Snakemake's own report of a finished pipeline."""

from tests.workflow.conftest import Tiny


def test_snakemakes_report_has_labels_categories_and_what_is_left_out(project: Tiny):
    project.make("--report", "report.html")
    report = (project.root / "report.html").read_text(encoding="utf-8")
    labels = ("A table (8 seeds)", "A figure (8 seeds)", "Tables", "Every variant, and readings")
    assert [label for label in labels if label not in report] == []
    assert "Numbers." in report and "laptop" in report
    assert "Not drawn at this scale" not in report

    project.make("--config", "scale=smoke")
    project.make("--report", "report.html", "--config", "scale=smoke")
    report = (project.root / "report.html").read_text(encoding="utf-8")
    assert "A table (not run at the smoke scale)" in report
