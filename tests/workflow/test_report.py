"""Snakemake's own report of a finished pipeline."""

import shutil

from tests.workflow.conftest import FIGURES, Tiny


def test_snakemakes_report_has_labels_categories_and_what_is_left_out(project: Tiny):
    project.make("--report", "report.html")
    report = (project.root / "report.html").read_text(encoding="utf-8")
    for label in ("A table", "A figure", "Tables", "Figures", "Every variant, and readings"):
        assert label in report, label
    assert "Numbers." in report and "laptop" in report
    assert "Not drawn at this scale" not in report

    shutil.copytree(project.root / FIGURES, project.root / FIGURES.replace("laptop", "smoke"))
    project.make("--config", "scale=smoke")
    project.make("--report", "report.html", "--config", "scale=smoke")
    report = (project.root / "report.html").read_text(encoding="utf-8")
    assert "A table. RandomMDPs: not run at the smoke scale" in report
